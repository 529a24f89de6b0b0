mod tokens;
