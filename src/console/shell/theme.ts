/** The Mantine theme of the console. */
import { type CSSVariablesResolver, createTheme } from "@mantine/core"

const system =
  'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif'

export const theme = createTheme({
  primaryColor: "indigo",
  primaryShade: { light: 7, dark: 8 },
  defaultRadius: "md",
  fontFamily: system,
  fontFamilyMonospace: 'ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, monospace',
  headings: { fontWeight: "650" },
  cursorType: "pointer",
  respectReducedMotion: true
})

/**
 * Replacements for Mantine's colours of dimmed texts, errors and warnings, whose contrast is too
 * low for small text.
 */
export const variables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    "--mantine-color-dimmed": "#495057",
    "--mantine-color-placeholder": "#6a7178",
    "--mantine-color-error": "#c92a2a",
    "--mantine-color-orange-light-color": "#8a3600"
  },
  dark: {
    "--mantine-color-dimmed": "#b8bcc4",
    "--mantine-color-placeholder": "#9aa0a8",
    "--mantine-color-error": "#ff8787"
  }
})
