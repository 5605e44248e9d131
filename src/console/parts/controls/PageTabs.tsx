/** The parts of a page, each with an address of its own. */
import { Button, Group } from "@mantine/core"
import { Link, useLocation } from "wouter"
import { isAt } from "../isAt.ts"

interface Props {
  readonly label: string
  /** Paths within the page; the first one is open where the address has none of the others. */
  readonly tabs: ReadonlyArray<{ readonly path: string; readonly label: string }>
  /** Below other tabs. */
  readonly isInner?: boolean
}

export const PageTabs = ({ label, tabs, isInner = false }: Props) => {
  const [place] = useLocation()
  const open = tabs.find(({ path }, at) => at > 0 && isAt(place, path)) ?? tabs[0]
  return (
    <Group component="nav" aria-label={label} gap={4} className="unprinted">
      {tabs.map((tab) => (
        <Button
          key={tab.path}
          component={Link}
          href={tab.path}
          size={isInner ? "compact-sm" : "compact-md"}
          variant={tab === open ? "light" : "subtle"}
          {...(tab === open ? { "aria-current": "page" as const } : { color: "gray" })}
        >
          {tab.label}
        </Button>
      ))}
    </Group>
  )
}
