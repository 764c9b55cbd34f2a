//! `measure::s3` against the endpoint in memory: what is left in the store.

use std::net::SocketAddr;
use std::time::Instant;

use slowpath_live::measure::s3::{Credentials, PayloadHash, Spec};
use slowpath_live::measure::{Guard, Job, measure};
use slowpath_record::{Origin, RunRecord};
use slowpath_units::{ByteCount, Duration};
use slowpath_workload::s3::{MemoryServer, ServerConfig};
use slowpath_workload::{Cancel, Context, SocketOptions};

#[test]
fn an_interrupted_load_leaves_no_objects() {
    let credentials = Credentials {
        access_key: "test".to_owned(),
        secret_key: "secret".to_owned(),
        region: "us-east-1".to_owned(),
    };
    let mut config = ServerConfig::new(SocketAddr::from(([127, 0, 0, 1], 0)), Some(credentials.clone()));
    config.think = Duration::from_millis(20);
    let context = Context::new().with_timeout(Duration::from_secs(120));
    let server = MemoryServer::start(config, &context).unwrap();
    let job = Job::S3(Spec {
        target: format!("s3://{}/bucket", server.address()),
        credentials,
        put: true,
        get: true,
        size: ByteCount::new(1_000),
        part_size: None,
        requests: 60,
        concurrency: 1,
        prefix: "test-".to_owned(),
        payload_hash: PayloadHash::Unsigned,
        tls: None,
        keep: false,
        verify: false,
        socket: SocketOptions::default(),
    });
    let cancel = Cancel::new();
    let guard = Guard {
        cancel: cancel.clone(),
        deadline: Duration::from_secs(60),
        remote: None,
        own_namespace: false,
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let begun = Instant::now();
            while server.objects().len() < 3 && begun.elapsed().as_secs() < 30 {
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            cancel.cancel();
        });
        let answer = measure(&job, &guard, &mut |_| {}).unwrap();
        let why = answer.incomplete().unwrap();
        assert!(why.contains("cancelled"), "{why}");
        assert!(answer.json()["left_in_store"].is_null(), "{}", answer.json());
        // What was measured ends in a record like any run, and says where it comes from.
        let record = answer.record();
        assert_eq!(record.origin, Origin::Live);
        assert!(
            record
                .transfers
                .iter()
                .any(|transfer| transfer.complete && transfer.bytes == 1_000)
        );
        let document = answer.document();
        assert_eq!(document["record"]["origin"], "live");
        assert_eq!(
            serde_json::from_value::<RunRecord>(document["record"].clone()).unwrap(),
            record
        );
    });
    assert_eq!(server.objects(), []);
}
