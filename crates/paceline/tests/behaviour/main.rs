//! What a client with the layer does before limited servers, in paused time: exact numbers, no sleeping.

mod lab;
mod quota;

mod costs;
mod learning;
mod refusals;
mod server_time;
mod tokens;
mod waiting;
mod windows;
