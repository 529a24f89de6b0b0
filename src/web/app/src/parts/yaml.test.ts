import { expect, test } from 'vitest';
import { yaml } from './yaml';

test('a definition reads as it was written', () => {
  const definition = { kind: 'Agent', metadata: { name: 'triage', labels: {} }, spec: { skills: ['triage', 'routing'], 'who: what': 'true', temperature: 0, prompt: 'Be kind.\n\n  Be short.\n', steps: [{ call: 'a.b', with: { id: null } }], none: [] } };
  expect(yaml(definition)).toBe(`kind: Agent
metadata:
  name: triage
  labels: {}
spec:
  skills:
    - triage
    - routing
  "who: what": "true"
  temperature: 0
  prompt: |
    Be kind.

      Be short.
  steps:
    - call: a.b
      with:
        id: null
  none: []`);
});
