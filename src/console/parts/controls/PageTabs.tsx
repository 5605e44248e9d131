/** The parts of a page, each with an address of its own. */
import { Button, Group } from "@mantine/core"
import { Link, useLocation } from "wouter"

interface Props {
  readonly label: string
  /** Paths within the page; the first one is open where the address has none of the others. */
  readonly tabs: ReadonlyArray<{ readonly path: string; readonly label: string }>
}

export const PageTabs = ({ label, tabs }: Props) => {
  const [place] = useLocation()
  const open =
    tabs.find(({ path }, at) => at > 0 && (place === path || place.startsWith(`${path}/`))) ??
    tabs[0]
  return (
    <Group component="nav" aria-label={label} gap={4}>
      {tabs.map((tab) => (
        <Button
          key={tab.path}
          component={Link}
          href={tab.path}
          size="compact-md"
          variant={tab === open ? "light" : "subtle"}
          {...(tab === open ? { "aria-current": "page" as const } : { color: "gray" })}
        >
          {tab.label}
        </Button>
      ))}
    </Group>
  )
}
