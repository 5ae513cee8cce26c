//! Holds no code: the tests beside it run the built program. `./x test cli` builds it and runs them.
