// Icons from Lucide (ISC licence), the few that are used.
import type { SVGProps } from 'react';

const paths = {
  home: 'M3 10.5 12 3l9 7.5V20a1 1 0 0 1-1 1h-5v-6H9v6H4a1 1 0 0 1-1-1z',
  check: 'M20 6 9 17l-5-5',
  x: 'M18 6 6 18M6 6l12 12',
  clock: 'M12 7v5l3 2M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18',
  inbox: 'M22 12h-6l-2 3h-4l-2-3H2M5.5 5.1 2 12v6a2 2 0 0 0 2 2h16a2 2 0 0 0 2-2v-6l-3.500-6.900A2 2 0 0 0 16.800 4H7.200a2 2 0 0 0-1.700 1.100',
  log: 'M8 6h13M8 12h13M8 18h13M3.500 6h.01M3.500 12h.01M3.500 18h.01',
  help: 'M9.100 9a3 3 0 0 1 5.800 1c0 2-3 3-3 3M12 17h.01M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18',
  policy: 'M20 13c0 5-3.500 7.500-7.700 8.900a1 1 0 0 1-.6 0C7.500 20.500 4 18 4 13V6a1 1 0 0 1 1-1c2 0 4.500-1.200 6.200-2.700a1.200 1.200 0 0 1 1.600 0C14.500 3.800 17 5 19 5a1 1 0 0 1 1 1z',
  people: 'M16 21v-2a4 4 0 0 0-4-4H6a4 4 0 0 0-4 4v2M9 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8M22 21v-2a4 4 0 0 0-3-3.900M16 3.100a4 4 0 0 1 0 7.800',
  power: 'M12 2v10M18.400 6.600a9 9 0 1 1-12.800 0',
  settings: 'M4 21v-7M4 10V3M12 21v-9M12 8V3M20 21v-5M20 12V3M1 14h6M9 8h6M17 16h6',
  search: 'M11 19a8 8 0 1 0 0-16 8 8 0 0 0 0 16M21 21l-4.300-4.300',
  sun: 'M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8M12 2v2M12 20v2M4.900 4.900l1.400 1.400M17.700 17.700l1.400 1.400M2 12h2M20 12h2M6.300 17.700l-1.400 1.400M19.100 4.900l-1.400 1.400',
  moon: 'M12 3a6 6 0 0 0 9 9 9 9 0 1 1-9-9',
  menu: 'M4 6h16M4 12h16M4 18h16',
  back: 'M19 12H5M12 19l-7-7 7-7',
  right: 'M9 18l6-6-6-6',
  down: 'M6 9l6 6 6-6',
  link: 'M10 13a5 5 0 0 0 7.500.5l3-3a5 5 0 0 0-7-7l-1.700 1.700M14 11a5 5 0 0 0-7.500-.5l-3 3a5 5 0 0 0 7 7l1.700-1.700',
  copy: 'M9 9h11a1 1 0 0 1 1 1v10a1 1 0 0 1-1 1H9a1 1 0 0 1-1-1V10a1 1 0 0 1 1-1M5 15H4a1 1 0 0 1-1-1V4a1 1 0 0 1 1-1h10a1 1 0 0 1 1 1v1',
  shield: 'M12 2 4 5v7c0 5 3.500 8.500 8 10 4.500-1.500 8-5 8-10V5zM9 12l2 2 4-4',
  alert: 'M12 9v4M12 17h.01M10.300 3.900 1.800 18a2 2 0 0 0 1.700 3h17a2 2 0 0 0 1.700-3L13.700 3.900a2 2 0 0 0-3.400 0',
  bot: 'M12 8V4H8M6 8h12a2 2 0 0 1 2 2v8a2 2 0 0 1-2 2H6a2 2 0 0 1-2-2v-8a2 2 0 0 1 2-2M2 14h2M20 14h2M15 13v2M9 13v2',
  key: 'M15.500 7.500l2.300 2.300a1 1 0 0 0 1.400 0l2.100-2.100a1 1 0 0 0 0-1.400L19 4M21 2l-9.600 9.600M7.500 21a5.500 5.500 0 1 0 0-11 5.500 5.500 0 0 0 0 11',
  plus: 'M12 5v14M5 12h14',
  file: 'M14 2H6a2 2 0 0 0-2 2v16a2 2 0 0 0 2 2h12a2 2 0 0 0 2-2V8zM14 2v6h6',
  leave: 'M9 21H5a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2h4M16 17l5-5-5-5M21 12H9',
  branch: 'M6 3v12M18 9a3 3 0 1 0 0-6 3 3 0 0 0 0 6M6 21a3 3 0 1 0 0-6 3 3 0 0 0 0 6M18 9a9 9 0 0 1-9 9',
  hook: 'M18 16.980h-5.990c-1.100 0-1.950.940-2.480 1.900A4 4 0 0 1 2 17c.010-.700.200-1.400.570-2M6 17l3.130-5.780c.530-.970.100-2.180-.500-3.100a4 4 0 1 1 6.890-4.060M12 6l3.130 5.730C15.660 12.700 16.900 13 18 13a4 4 0 0 1 0 8',
  history: 'M3 12a9 9 0 1 0 9-9 9.700 9.700 0 0 0-6.700 2.700L3 8M3 3v5h5M12 7v5l4 2',
  send: 'M22 2 11 13M22 2l-7 20-4-9-9-4z',
  tasks: 'M9 11l3 3L22 4M21 12v7a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2h11',
  chat: 'M21 15a2 2 0 0 1-2 2H7l-4 4V5a2 2 0 0 1 2-2h14a2 2 0 0 1 2 2z',
  spark: 'M12 3l1.900 5.800a2 2 0 0 0 1.300 1.300L21 12l-5.800 1.900a2 2 0 0 0-1.300 1.300L12 21l-1.900-5.800a2 2 0 0 0-1.300-1.300L3 12l5.800-1.900a2 2 0 0 0 1.300-1.300z',
  wrench: 'M14.700 6.300a1 1 0 0 0 0 1.400l1.600 1.600a1 1 0 0 0 1.400 0l3.770-3.770a6 6 0 0 1-7.940 7.940l-6.910 6.910a2.120 2.120 0 0 1-3-3l6.910-6.910a6 6 0 0 1 7.940-7.940z',
  glass: 'M8 22h8M7 10h10M12 15v7M12 15a5 5 0 0 0 5-5c0-2-.500-4-2-8H9c-1.500 4-2 6-2 8a5 5 0 0 0 5 5',
  download: 'M21 15v4a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2v-4M7 10l5 5 5-5M12 15V3',
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name, size = 16, ...rest }: { name: IconName; size?: number } & SVGProps<SVGSVGElement>) {
  return (
    <svg width={size} height={size} viewBox="0 0 24 24" fill="none" stroke="currentColor" strokeWidth={1.9} strokeLinecap="round" strokeLinejoin="round" aria-hidden="true" focusable="false" {...rest}>
      <path d={paths[name]} />
    </svg>
  );
}

export function Mark({ size = 24 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="9" fill="#4f48dd" />
      <path d="M9 16.500l4.600 4.600L23 11.500" fill="none" stroke="#fff" strokeWidth="3.400" strokeLinecap="round" strokeLinejoin="round" />
    </svg>
  );
}
