import { ActionIcon, Menu, useMantineColorScheme } from '@mantine/core';
import { Check, Monitor, Moon, Sun } from 'lucide-react';
import { texts } from '../texts/index.ts';

const schemes = [
  { value: 'light', label: texts.frame.light, Icon: Sun },
  { value: 'dark', label: texts.frame.dark, Icon: Moon },
  { value: 'auto', label: texts.frame.system, Icon: Monitor },
] as const;

/** Chooses between the light and the dark colours. */
export function ThemeMenu() {
  // Turning transitions off for the change would need a <style> element, which the security policy forbids.
  const { colorScheme, setColorScheme } = useMantineColorScheme({ keepTransitions: true });
  const { Icon: Current } = schemes.find(({ value }) => value === colorScheme) ?? schemes[2];
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={texts.frame.theme}>
          <Current size={16} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {schemes.map(({ value, label, Icon }) => (
          <Menu.Item
            key={value}
            leftSection={<Icon size={16} aria-hidden />}
            rightSection={value === colorScheme && <Check size={14} aria-hidden />}
            onClick={() => setColorScheme(value)}
          >
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
