//! Estimators, intervals, tests.
