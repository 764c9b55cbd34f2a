//! AWS Signature Version 4, for requests with headers.

use std::fmt::Write;

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

/// Who asks.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// Access key.
    pub access_key: String,
    /// Secret key.
    pub secret_key: String,
    /// Region, such as `us-east-1`.
    pub region: String,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Credentials {{ access_key: {:?}, region: {:?}, .. }}",
            self.access_key, self.region
        )
    }
}

/// Whether the content of a request is part of its signature.
///
/// Hashing costs processor time, which can be what limits an upload: so it is a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PayloadHash {
    /// `UNSIGNED-PAYLOAD`.
    #[default]
    Unsigned,
    /// SHA-256 of the content.
    Sha256,
}

impl PayloadHash {
    /// The value of `x-amz-content-sha256` for `content`.
    pub fn of(self, content: &[u8]) -> String {
        match self {
            Self::Unsigned => "UNSIGNED-PAYLOAD".to_owned(),
            Self::Sha256 => hex(&Sha256::digest(content)),
        }
    }
}

/// A request as far as its signature is concerned.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    /// Method.
    pub method: &'a str,
    /// Path as it stands in the request line: already percent-encoded.
    pub path: &'a str,
    /// Query parameters, not encoded, in any order.
    pub query: &'a [(&'a str, String)],
    /// Headers to sign, names in lower case; `host` and the `x-amz-` ones must be among them.
    pub headers: &'a [(&'a str, String)],
    /// The value of `x-amz-content-sha256`.
    pub payload_hash: &'a str,
    /// `x-amz-date`: `YYYYMMDDTHHMMSSZ`.
    pub date: &'a str,
}

impl Credentials {
    /// The value of the `authorization` header.
    pub fn authorization(&self, request: &Request<'_>) -> String {
        let mut headers: Vec<_> = request.headers.iter().collect();
        headers.sort();
        let names: Vec<&str> = headers.iter().map(|(name, _)| *name).collect();
        let names = names.join(";");
        let mut canonical = format!(
            "{}\n{}\n{}\n",
            request.method,
            request.path,
            query_string(request.query)
        );
        for (name, value) in headers {
            let written = writeln!(canonical, "{name}:{}", value.trim());
            debug_assert!(written.is_ok(), "writing to a String cannot fail");
        }
        let written = write!(canonical, "\n{names}\n{}", request.payload_hash);
        debug_assert!(written.is_ok(), "writing to a String cannot fail");
        let day = request.date.get(..8).unwrap_or(request.date);
        let scope = format!("{day}/{}/s3/aws4_request", self.region);
        let hashed = hex(&Sha256::digest(canonical.as_bytes()));
        let to_sign = format!("AWS4-HMAC-SHA256\n{}\n{scope}\n{hashed}", request.date);
        let mut key = format!("AWS4{}", self.secret_key).into_bytes();
        for part in [day, &self.region, "s3", "aws4_request"] {
            key = mac(&key, part.as_bytes());
        }
        let signature = hex(&mac(&key, to_sign.as_bytes()));
        format!(
            "AWS4-HMAC-SHA256 Credential={}/{scope},SignedHeaders={names},Signature={signature}",
            self.access_key
        )
    }
}

/// The query as it stands in the request line and in the signature: encoded and sorted.
pub fn query_string(query: &[(&str, String)]) -> String {
    let mut parts: Vec<String> = query
        .iter()
        .map(|(name, value)| format!("{}={}", encode(name, false), encode(value, false)))
        .collect();
    parts.sort();
    parts.join("&")
}

/// Percent-encodes as the signature wants it; slashes of paths stay.
pub fn encode(text: &str, keep_slash: bool) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(char::from(byte));
            }
            b'/' if keep_slash => encoded.push('/'),
            _ => {
                let written = write!(encoded, "%{byte:02X}");
                debug_assert!(written.is_ok(), "writing to a String cannot fail");
            }
        }
    }
    encoded
}

fn mac(key: &[u8], data: &[u8]) -> Vec<u8> {
    // HMAC takes keys of any length.
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap_or_else(|_| unreachable!("HMAC takes any key"));
    mac.update(data);
    mac.finalize().into_bytes().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
            let written = write!(text, "{byte:02x}");
            debug_assert!(written.is_ok(), "writing to a String cannot fail");
            text
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the S3 API reference, "Signature Calculations for the Authorization Header".
    #[test]
    fn signs_the_published_examples() {
        let credentials = Credentials {
            access_key: "AKIAIOSFODNN7EXAMPLE".to_owned(),
            secret_key: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".to_owned(),
            region: "us-east-1".to_owned(),
        };
        let date = "20130524T000000Z";
        let host = ("host", "examplebucket.s3.amazonaws.com".to_owned());
        let empty = PayloadHash::Sha256.of(b"");
        let get = Request {
            method: "GET",
            path: "/test.txt",
            query: &[],
            headers: &[
                host.clone(),
                ("range", "bytes=0-9".to_owned()),
                ("x-amz-content-sha256", empty.clone()),
                ("x-amz-date", date.to_owned()),
            ],
            payload_hash: &empty,
            date,
        };
        assert!(
            credentials
                .authorization(&get)
                .ends_with("Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")
        );
        let list = Request {
            path: "/",
            query: &[("max-keys", "2".to_owned()), ("prefix", "J".to_owned())],
            headers: &[
                host,
                ("x-amz-content-sha256", empty.clone()),
                ("x-amz-date", date.to_owned()),
            ],
            ..get
        };
        assert!(
            credentials
                .authorization(&list)
                .ends_with("Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7")
        );
    }

    #[test]
    fn encodings() {
        assert_eq!(encode("a b/ü~", true), "a%20b/%C3%BC~");
        assert_eq!(encode("a/b", false), "a%2Fb");
        assert_eq!(
            query_string(&[("uploads", String::new()), ("b", "x".to_owned())]),
            "b=x&uploads="
        );
    }
}
