import { useId } from 'react';
import css from './choices.module.css';

type Choice<V extends string> = V | { value: V; label: string };

type Props<V extends string> = {
  data: readonly Choice<V>[];
  value: V;
  onChange: (value: V) => void;
  fullWidth?: boolean;
  size?: 'xs';
  'aria-label'?: string;
  'aria-labelledby'?: string;
};

/** A few choices that are seen at once, one of which is made: the browser's own radio buttons, which measure nothing as they are drawn. */
export function Choices<V extends string>({ data, value, onChange, fullWidth, size, ...named }: Props<V>) {
  const name = useId();
  return (
    <div role="radiogroup" className={css.choices} data-full={fullWidth || undefined} data-size={size} {...named}>
      {data.map((choice) => {
        const one = typeof choice === 'string' ? { value: choice, label: choice } : choice;
        return (
          <label key={one.value} className={css.choice}>
            <input type="radio" name={name} value={one.value} checked={one.value === value} onChange={() => onChange(one.value)} />
            {one.label}
          </label>
        );
      })}
    </div>
  );
}
