import a11y from 'eslint-plugin-jsx-a11y';
import hooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['src/api/**', 'node_modules/**'] },
  ...tseslint.configs.strict,
  a11y.flatConfigs.strict,
  {
    files: ['**/*.{ts,tsx}'],
    plugins: { 'react-hooks': hooks },
    rules: {
      ...hooks.configs.recommended.rules,
      'no-restricted-properties': ['error', { object: 'localStorage', property: 'setItem', message: 'tokens live in sessionStorage' }],
      'no-console': 'error',
      // No compiler memoizes here, so a list that it would pass over is none the worse.
      'react-hooks/incompatible-library': 'off',
      'max-lines': ['error', { max: 400, skipBlankLines: true, skipComments: true }],
    },
  },
);
