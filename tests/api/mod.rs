mod approvals;
mod tokens;
