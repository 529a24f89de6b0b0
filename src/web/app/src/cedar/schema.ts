// What the company's Cedar schema says, for completion and for the sentence on hover.

import { readShapes, type Shapes } from './shape';

export type Attribute = { name: string; type: string; of: string; doc: string };
export type Schema = { types: Map<string, string>; attributes: Attribute[]; shapes: Shapes };

const ENTITY = /^\s*entity\s+([A-Za-z_]\w*)/;
const ATTRIBUTE = /^\s*"?([A-Za-z_]\w*)"?\??\s*:\s*([^,/]+?)\s*,?\s*(?:\/\/\s*(.*))?$/;
const NOTE = /^\s*\/\/\s?(.*)$/;

/** Reads entity types and their attributes, each with the note before or behind it. */
export function readSchema(text: string): Schema {
  const types = new Map<string, string>();
  const attributes: Attribute[] = [];
  let of = '';
  let notes: string[] = [];
  for (const line of text.split('\n')) {
    const note = NOTE.exec(line);
    if (note) {
      notes.push(note[1] ?? '');
      continue;
    }
    const entity = ENTITY.exec(line);
    if (entity?.[1]) {
      of = entity[1];
      types.set(of, notes.join(' '));
    } else if (/^\s*}/.test(line) || /^\s*action\b/.test(line)) {
      of = '';
    } else if (of) {
      const attribute = ATTRIBUTE.exec(line);
      if (attribute?.[1]) attributes.push({ name: attribute[1], type: (attribute[2] ?? '').trim(), of, doc: attribute[3] ?? notes.join(' ') });
    }
    notes = [];
  }
  return { types, attributes, shapes: readShapes(text) };
}
