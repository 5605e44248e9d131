import { Group, Text } from "@mantine/core"
import type { ReactNode } from "react"

interface Props {
  readonly label: string
  readonly children: ReactNode
}

/** A line with a label on the left and an amount on the right. */
export const MoneyLine = ({ label, children }: Props) => (
  <Group justify="space-between" gap="xs" wrap="nowrap" align="baseline">
    <Text size="sm" c="dimmed">
      {label}
    </Text>
    <Text size="sm" component="div" ta="right">
      {children}
    </Text>
  </Group>
)
