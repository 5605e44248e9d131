/** A row of figures, each below its label. */
import { Card, Group, Text } from "@mantine/core"
import type { ReactNode } from "react"

export interface Figure {
  readonly label: string
  readonly value: ReactNode
  readonly note?: string
}

const LEAST_WIDTH = 150

export const Figures = ({ figures }: { readonly figures: ReadonlyArray<Figure> }) => (
  <Group gap="sm" align="stretch" component="dl" m={0}>
    {figures.map(({ label, value, note }) => (
      <Card key={label} withBorder p="sm" miw={LEAST_WIDTH} component="div">
        <Text size="xs" c="dimmed" component="dt">
          {label}
        </Text>
        <Text fw={600} component="dd" m={0}>
          {value}
        </Text>
        {note === undefined ? null : (
          <Text size="xs" c="dimmed" component="dd" m={0}>
            {note}
          </Text>
        )}
      </Card>
    ))}
  </Group>
)
