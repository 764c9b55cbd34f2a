//! What the programs on a host do, as plain data.
//!
//! A [`Behaviour`] is started on a [`crate::Host`] at a point in time; what it achieved comes back as
//! [`crate::Report`]s. Clients end by themselves, servers and sinks never do.

mod behaviour;
mod bulk;
mod datagram;
mod exchange;
mod ftp_client;
mod ftp_server;
mod ftp_text;
mod pace;
mod program;
mod ssh;

pub use behaviour::{
    Behaviour, Bulk, File, FtpClient, FtpData, FtpDirection, FtpServer, Pace, Ping, Requests, Responder,
    SftpRequests, Sink, SshClient, SshDirection, SshServer, SshTransfer, UdpSink, UdpSource,
};
pub(crate) use program::Program;

/// The program that a behaviour describes.
pub(crate) fn program(behaviour: Behaviour) -> Box<dyn Program> {
    match behaviour {
        Behaviour::Bulk(data) => Box::new(bulk::BulkProgram::new(data)),
        Behaviour::Sink(data) => Box::new(bulk::SinkProgram::new(data)),
        Behaviour::FtpClient(data) => Box::new(ftp_client::FtpClientProgram::new(data)),
        Behaviour::FtpServer(data) => Box::new(ftp_server::FtpServerProgram::new(data)),
        Behaviour::Requests(data) => Box::new(exchange::RequestsProgram::new(data)),
        Behaviour::Responder(data) => Box::new(exchange::ResponderProgram::new(data)),
        Behaviour::SshClient(data) => Box::new(ssh::SshClientProgram::new(data)),
        Behaviour::SshServer(data) => Box::new(ssh::SshServerProgram::new(data)),
        Behaviour::UdpSource(data) => Box::new(datagram::UdpSourceProgram::new(data)),
        Behaviour::UdpSink(data) => Box::new(datagram::UdpSinkProgram::new(data)),
        Behaviour::Ping(data) => Box::new(datagram::PingProgram::new(data)),
    }
}
