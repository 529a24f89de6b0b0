// The first script of the page, built as a file of its own: it is small, and runs before all else is loaded and compiled.
// The token is taken, and what the page shows is asked for while the program that shows it is still on its way.

import { askAhead } from './ahead';
import { begin, currentToken } from './session';

begin(window.location, window.history, window.sessionStorage);
const token = currentToken();
if (token) askAhead(token, window.location);
