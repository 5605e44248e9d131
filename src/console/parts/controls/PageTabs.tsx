/** The tabs of a page; each tab has its own address. */
import { Button, Group } from "@mantine/core"
import { useLayoutEffect, useRef } from "react"
import { Link, useLocation } from "wouter"
import { isAt } from "../isAt.ts"

interface Props {
  readonly label: string
  /**
   * The paths of the tabs within the page. The first tab is open where the address matches no
   * other.
   */
  readonly tabs: ReadonlyArray<{ readonly path: string; readonly label: string }>
  /** Whether the tabs are below other tabs. */
  readonly isInner?: boolean
}

/** Scrolls a line of tabs that is too long for the screen so that the open tab is in the middle. */
const useOpenTabShown = (path: string | undefined) => {
  const line = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const tab = line.current?.querySelector<HTMLElement>(`[aria-current="page"]`)
    if (path === undefined || !line.current || !tab) return
    const middle = tab.offsetLeft + tab.offsetWidth / 2 - line.current.offsetLeft
    line.current.scrollLeft = middle - line.current.clientWidth / 2
  }, [path])
  return line
}

export const PageTabs = ({ label, tabs, isInner = false }: Props) => {
  const [location] = useLocation()
  const open = tabs.find(({ path }, at) => at > 0 && isAt(location, path)) ?? tabs[0]
  const line = useOpenTabShown(open?.path)
  return (
    <Group ref={line} component="nav" aria-label={label} gap={4} className="tabs unprinted">
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
