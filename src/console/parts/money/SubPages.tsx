/** The parts of a page, each with an address of its own. */
import { Button, Group } from "@mantine/core"
import { Link, useLocation } from "wouter"

interface SubPage {
  readonly path: string
  readonly label: string
}

/** Links in a row; of those that the address begins with, the last one is open. */
export const SubPages = ({
  label,
  pages,
  isInner = false
}: {
  readonly label: string
  readonly pages: ReadonlyArray<SubPage>
  /** Below other such links. */
  readonly isInner?: boolean
}) => {
  const [place] = useLocation()
  const begins = (path: string) => place === path || (path !== "/" && place.startsWith(`${path}/`))
  const open = pages.findLast(({ path }) => begins(path)) ?? pages[0]
  return (
    <Group component="nav" gap={4} aria-label={label} className="unprinted">
      {pages.map((page) => (
        <Button
          key={page.path}
          component={Link}
          href={page.path}
          size={isInner ? "compact-sm" : "compact-md"}
          variant={page === open ? "light" : "subtle"}
          color={page === open ? "indigo" : "gray"}
          aria-current={page === open ? "page" : undefined}
        >
          {page.label}
        </Button>
      ))}
    </Group>
  )
}
