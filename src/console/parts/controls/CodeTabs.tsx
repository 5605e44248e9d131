/** The same thing as code in several languages or for several programs, to copy. */
import { Button, Code, CopyButton, Group, Stack, Tabs, Text } from "@mantine/core"
import { IconCheck, IconCopy } from "@tabler/icons-react"
import { type ReactNode, useState } from "react"
import { useTranslation } from "react-i18next"

interface CodeTab {
  /** The label of the tab. */
  readonly name: string
  readonly code: string
  /** What the reader has to know beside the code. */
  readonly hint: ReactNode
}

interface Props {
  readonly tabs: readonly [CodeTab, ...ReadonlyArray<CodeTab>]
  /** The accessible name of the code of a tab. */
  readonly labelOf: (name: string) => string
  readonly copyLabel: string
}

export const CodeTabs = ({ tabs, labelOf, copyLabel }: Props) => {
  const { t } = useTranslation()
  // Names may have spaces, which the ids of tabs must not have.
  const [place, setPlace] = useState("0")
  const { name, code, hint } = tabs[Number(place)] ?? tabs[0]
  return (
    <Stack gap="sm">
      <Tabs value={place} onChange={(value) => setPlace(value ?? place)}>
        <Tabs.List>
          {tabs.map((tab, index) => (
            <Tabs.Tab key={tab.name} value={String(index)}>
              {tab.name}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={place} pt="sm">
          <Code block className="code" tabIndex={0} aria-label={labelOf(name)}>
            {code}
          </Code>
        </Tabs.Panel>
      </Tabs>
      <Group justify="space-between" gap="xs">
        <Text size="xs" c="dimmed" flex={1}>
          {hint}
        </Text>
        <CopyButton value={code}>
          {({ copied, copy }) => (
            <Button
              size="xs"
              variant="default"
              leftSection={copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
              onClick={copy}
            >
              {copied ? t("copied") : copyLabel}
            </Button>
          )}
        </CopyButton>
      </Group>
    </Stack>
  )
}
