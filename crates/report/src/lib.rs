//! What people and programs read: terminal tables, drawings, self-contained HTML.
