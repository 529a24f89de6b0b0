// The first script of the page. It is small: the token is taken, and what every page waits for is asked for while the
// program that shows it is still being loaded.

import { askAhead } from './ahead';
import { begin, currentToken } from './session';

begin(window.location, window.history, window.sessionStorage);
const token = currentToken();
if (token) askAhead(token, window.location);
void import('./main');
