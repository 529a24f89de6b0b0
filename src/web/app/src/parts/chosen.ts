import type { SelectProps } from '@mantine/core';

type Choice = NonNullable<SelectProps['data']>[number];

/** What a list of choices calls the one that is chosen. */
export function chosenIn(data: SelectProps['data'], value: SelectProps['value']): string {
  const choices = (data ?? []).flatMap((one: Choice) => (typeof one === 'object' && 'group' in one ? one.items : [one]));
  const found = choices.find((one) => value !== null && value !== undefined && (typeof one === 'object' ? one.value : one) === value);
  if (found === undefined) return '';
  return typeof found === 'object' ? ('label' in found ? found.label : found.value) : found;
}
