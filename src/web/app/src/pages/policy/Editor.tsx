import { closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { bracketMatching } from '@codemirror/language';
import { lintGutter, setDiagnostics, type Diagnostic } from '@codemirror/lint';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { Annotation, EditorState } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import type { Problem2 as Problem } from '../../api';
import { languageOf } from '../../cedar/language';
import { fromBytes } from '../../cedar/offsets';
import type { Schema } from '../../cedar/schema';
import { nonce } from '../../nonce';

type Props = { file: string; text: string; schema: Schema; problems: Problem[]; line?: number; readOnly: boolean; focus?: boolean; change: (text: string) => void };

/** A text that came from elsewhere is not told to where it came from. */
const given = Annotation.define<boolean>();

const SEVERITIES = { error: 'error', warning: 'warning', note: 'hint' } as const;

/** The problems of a file at their places: the server counts in bytes. */
export function diagnostics(text: string, problems: Problem[]): Diagnostic[] {
  const offset = fromBytes(text);
  return problems.map(({ span, severity, message, help }) => {
    const [start = 0, length = 0] = span;
    const from = offset(start);
    return { from, to: Math.max(from, offset(start + length)), severity: SEVERITIES[severity], message: help ? `${message}\n${help}` : message };
  });
}

/** What its panel for searching calls what it does. */
const PHRASES = {
  next: 'Next',
  previous: 'Previous',
  all: 'Select all',
  'match case': 'Match case',
  regexp: 'Regular expression',
  'by word': 'Whole words',
  replace: 'Replace',
  'replace all': 'Replace all',
  close: 'Close the search',
};

/** CodeMirror with one file. Another file, or a text that came from elsewhere, begins a new one. */
export default function Editor({ file, text, schema, problems, line, readOnly, focus = false, change }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const tell = useRef(change);
  useEffect(() => {
    tell.current = change;
  }, [change]);
  const known = useRef(schema);
  useEffect(() => {
    known.current = schema;
  }, [schema]);
  const first = useRef(text);
  useEffect(() => {
    first.current = text;
  }, [text]);

  useEffect(() => {
    if (!place.current) return;
    const editor = new EditorView({
      parent: place.current,
      state: EditorState.create({
        doc: first.current,
        extensions: [
          EditorView.cspNonce.of(nonce()),
          lineNumbers(),
          // A part that no test covers is no fault of its line.
          lintGutter({ markerFilter: (found) => found.filter(({ severity }) => severity !== 'hint') }),
          history(),
          drawSelection(),
          bracketMatching(),
          closeBrackets(),
          highlightActiveLine(),
          highlightActiveLineGutter(),
          highlightSelectionMatches(),
          search({ top: true }),
          EditorState.phrases.of(PHRASES),
          keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...completionKeymap]),
          EditorView.contentAttributes.of({ 'aria-label': `text of ${file}`, tabindex: '0' }),
          EditorState.readOnly.of(readOnly),
          languageOf(file, () => known.current),
          EditorView.updateListener.of((update) => {
            const isTyped = update.docChanged && !update.transactions.some((one) => one.annotation(given));
            if (isTyped) tell.current(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = editor;
    return () => {
      editor.destroy();
      view.current = null;
    };
  }, [file, readOnly]);

  useEffect(() => {
    if (focus) view.current?.focus();
  }, [focus]);

  useEffect(() => {
    const editor = view.current;
    if (!editor || editor.state.doc.toString() === text) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: text }, annotations: given.of(true) });
  }, [text]);

  useEffect(() => {
    const editor = view.current;
    if (!editor) return;
    const found = diagnostics(editor.state.doc.toString(), problems);
    editor.dispatch(setDiagnostics(editor.state, found));
  }, [problems, file]);

  useEffect(() => {
    const editor = view.current;
    if (!editor || !line || line > editor.state.doc.lines) return;
    const at = editor.state.doc.line(line).from;
    editor.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: 'start', yMargin: 60 }) });
  }, [line, file]);

  return <div ref={place} />;
}
