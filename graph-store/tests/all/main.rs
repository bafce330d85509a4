//! Every kind of store fulfils the contract, and servers may misbehave.

mod back_end;
mod beside;
mod faults;
mod histories;
mod image;
mod kills;
mod logs;
mod stores;
mod writes;
mod written;
