/** A state as a word; its colour carries no additional information. */
import { Badge } from "@mantine/core"

/** Text colours with enough contrast for small text, in light and dark mode. */
export const inks = {
  good: "light-dark(#237032, var(--mantine-color-green-4))",
  bad: "light-dark(var(--mantine-color-red-9), var(--mantine-color-red-4))",
  busy: "light-dark(var(--mantine-color-indigo-8), var(--mantine-color-indigo-3))",
  off: "var(--mantine-color-dimmed)"
} as const
export type Tone = keyof typeof inks

interface Props {
  readonly tone: Tone
  readonly children: string | number
}

export const StateBadge = ({ tone, children }: Props) => (
  <Badge className="state" variant="default" tt="none" miw="max-content" c={inks[tone]}>
    {children}
  </Badge>
)
