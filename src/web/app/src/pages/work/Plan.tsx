import { Anchor, Textarea } from '@mantine/core';
import css from './work.module.css';

const EXAMPLE = `steps:
  - say: I look who is there.
  - call: {tool: actor.list}
  - ask: {text: "Shall I go on?"}
  - say: Done.
`;

/** What the agent does step by step, in place of a model. */
export function PlanField({ value, set }: { value: string; set: (plan: string) => void }) {
  return (
    <Textarea
      label="Plan"
      description="YAML: what the agent does step by step, in place of a model"
      value={value}
      spellCheck={false}
      classNames={{ input: css.code }}
      onChange={(event) => set(event.currentTarget.value)}
      rightSectionWidth={92}
      rightSection={
        value === '' ? (
          <Anchor component="button" type="button" size="xs" onClick={() => set(EXAMPLE)}>
            an example
          </Anchor>
        ) : undefined
      }
      rightSectionProps={{ className: css.example }}
    />
  );
}
