import type { ComboboxItem, ComboboxParsedItem, OptionsFilter, SelectProps } from '@mantine/core';
import { folded } from './plain';

type Choice = NonNullable<SelectProps['data']>[number];

/** What a list of choices calls the one that is chosen. */
export function chosenIn(data: SelectProps['data'], value: SelectProps['value']): string {
  const choices = (data ?? []).flatMap((one: Choice) => (typeof one === 'object' && 'group' in one ? one.items : [one]));
  const found = choices.find((one) => value !== null && value !== undefined && (typeof one === 'object' ? one.value : one) === value);
  if (found === undefined) return '';
  return typeof found === 'object' ? ('label' in found ? found.label : found.value) : found;
}

/** As it is looked for: with accents or without, and with spaces where names of zones have underscores. */
const sought = (text: string) => folded(text).replaceAll('_', ' ');

/** The choices that have in their names what was typed. */
export const offered: OptionsFilter = ({ options, search, limit }) => {
  const words = sought(search.trim());
  const isLike = ({ label }: ComboboxItem) => sought(label).includes(words);
  return options.flatMap<ComboboxParsedItem>((one) => ('group' in one ? [{ ...one, items: one.items.filter(isLike) }] : isLike(one) ? [one] : [])).slice(0, limit);
};
