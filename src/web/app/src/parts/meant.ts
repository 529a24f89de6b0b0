/** Marks what decides something: it takes no click that was meant for another thing (`strays.ts`). */
export const DECIDES = { 'data-decides': '' };
