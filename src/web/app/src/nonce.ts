// What the page's content security policy lets through, and nothing more.

/** The nonce of this page, for the style elements that Mantine and CodeMirror make. */
export const nonce = () => document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce ?? '';

/** The library that keeps a page from scrolling behind a dialog looks for the nonce under this name. */
export function lendNonce() {
  (globalThis as { __webpack_nonce__?: string }).__webpack_nonce__ = nonce();
}

/** React sets the text of Mantine's style elements as HTML. Text without a tag in it is let through, anything else is not. */
export function trustStyles() {
  const types = (window as { trustedTypes?: { createPolicy(name: string, rules: object): unknown } }).trustedTypes;
  types?.createPolicy('default', {
    createHTML: (text: string) => {
      if (text.includes('<')) throw new TypeError('this page sets no HTML');
      return text;
    },
  });
}
