//! room
pub mod simd;
