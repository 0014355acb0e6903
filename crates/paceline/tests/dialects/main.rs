//! Dialects: all of them, and what a client makes of what its upstream says.

mod bodies;
mod costs;
mod examples;
mod gates;
mod lab;
mod points;
mod words;
