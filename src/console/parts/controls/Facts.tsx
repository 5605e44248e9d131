/** The properties of one thing, as names and values. */
import { SimpleGrid, Text } from "@mantine/core"
import type { ReactNode } from "react"

interface Props {
  readonly facts: ReadonlyArray<{ readonly name: string; readonly value: ReactNode }>
}

export const Facts = ({ facts }: Props) => (
  <SimpleGrid component="dl" cols={{ base: 2, sm: 3, lg: 4 }} spacing="md" m={0}>
    {facts.map(({ name, value }) => (
      <div key={name}>
        <Text component="dt" size="xs" c="dimmed">
          {name}
        </Text>
        <Text component="dd" size="sm" m={0}>
          {value}
        </Text>
      </div>
    ))}
  </SimpleGrid>
)
