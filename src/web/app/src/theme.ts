import { createTheme, type MantineColorsTuple } from '@mantine/core';
import { offered } from './parts/chosen';

const iris: MantineColorsTuple = ['#edecfd', '#dcdafb', '#bcb9f7', '#a3a1ff', '#7f7bf2', '#655fe9', '#4f48dd', '#4a42d6', '#3d36b8', '#322c98'];
const gray: MantineColorsTuple = ['#f6f6f8', '#f1f1f4', '#e3e3e9', '#cfcfd8', '#b3b4bf', '#8b8e99', '#676a75', '#565963', '#33353d', '#17181d'];
const dark: MantineColorsTuple = ['#ecedf1', '#c6c8d1', '#a8abb6', '#6d707c', '#3a3d47', '#282a31', '#1d1f25', '#15161a', '#0e0f12', '#08090b'];

const red: MantineColorsTuple = ['#fdeaea', '#fad4d5', '#f3aaad', '#ec7f84', '#dd5960', '#d9484f', '#bf2a32', '#b0222a', '#941c23', '#74151b'];
const teal: MantineColorsTuple = ['#e3f4ea', '#c9e9d6', '#9ad5b3', '#5fd39a', '#47b581', '#2f9e66', '#16804f', '#10693f', '#0c5532', '#083f25'];

export const theme = createTheme({
  colors: { iris, gray, dark, red, teal },
  primaryColor: 'iris',
  primaryShade: { light: 7, dark: 6 },
  fontFamily: 'var(--sans)',
  fontFamilyMonospace: 'var(--mono)',
  fontSizes: { xs: '12px', sm: '13px', md: '14px', lg: '16px', xl: '22px' },
  spacing: { xs: '8px', sm: '12px', md: '16px', lg: '24px', xl: '32px' },
  defaultRadius: 'md',
  cursorType: 'pointer',
  autoContrast: true,
  components: {
    Button: { defaultProps: { size: 'sm' }, styles: { label: { fontWeight: 550 } } },
    TextInput: { defaultProps: { size: 'sm' } },
    Textarea: { defaultProps: { size: 'sm' } },
    // A list of choices is made when it is opened: a page may have many that are not.
    Select: { defaultProps: { size: 'sm', filter: offered, selectFirstOptionOnChange: true, nothingFoundMessage: 'Nothing found', comboboxProps: { shadow: 'md', keepMounted: false } } },
    Notification: { defaultProps: { closeButtonProps: { 'aria-label': 'close' } } },
    Modal: { defaultProps: { closeButtonProps: { 'aria-label': 'close' }, centered: true, radius: 'md', overlayProps: { backgroundOpacity: 0.4 } }, styles: { title: { fontSize: '16px', fontWeight: 600 } } },
  },
});
