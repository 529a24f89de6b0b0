/** How events were decided, as the log's filter names them. */
export const DECISIONS = [
  { value: 'allow', label: 'allowed' },
  { value: 'needs_approval', label: 'needs approval' },
  { value: 'deny', label: 'denied' },
  { value: 'system', label: 'by the server' },
];
