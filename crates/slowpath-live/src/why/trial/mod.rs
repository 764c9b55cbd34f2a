//! Proof on the living transfer: one socket option is turned on and off in turns, and the rates of the turns are compared.
//!
//! Only on sockets of a program that the watch started, and only when asked. The options are restored at the end, and by a
//! [`guardian`] when this process disappears.
//!
//! * [`change`]: what may be changed, as it is typed. [`setting`]: the options themselves, read, set and restored.
//! * [`choice`]: what is worth trying where nothing is named. [`turns`]: when what is on, without a clock.
//! * [`reach`]: a second descriptor of the program's socket. [`guardian`]: who restores when nobody else can.
//! * [`course`]: the driver; start here. [`result`]: what came of it; [`text`]: for a terminal.

pub mod change;
pub mod choice;
pub mod course;
pub mod guardian;
pub mod reach;
pub mod result;
pub mod setting;
pub mod text;
pub mod turns;

pub use change::Change;
pub use course::TrialSpec;
pub use result::Trial;
