// What opens something over the page: a page is drawn without it, and it is loaded right after.
export { Autocomplete, Modal, Select } from '@mantine/core';
