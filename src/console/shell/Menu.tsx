/** The menu of the pages that the session has access to, and the name of its owner. */
import { NavLink, Stack, Text } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { Link, useLocation } from "wouter"
import { useSession } from "../gateway/hooks.tsx"
import { useHasScopes, useMe } from "../gateway/me.ts"
import { isAt } from "../parts/isAt.ts"
import { type Page, pages, type Side, sidesOf } from "./pages.ts"

const Entry = ({
  page: { name, path, scopes = [], icon: Icon },
  onPick
}: {
  readonly page: Page
  readonly onPick: () => void
}) => {
  const { t } = useTranslation()
  const [location] = useLocation()
  const isAllowed = useHasScopes(...scopes)
  return (
    <NavLink
      component={Link}
      href={path}
      label={t(`pages.${name}`)}
      {...(isAllowed ? {} : { description: t("lacksScope") })}
      leftSection={<Icon size={18} stroke={1.75} />}
      active={isAt(location, path)}
      aria-current={location === path ? "page" : undefined}
      onClick={onPick}
    />
  )
}

const Entries = ({ side, onPick }: { readonly side: Page["side"]; readonly onPick: () => void }) =>
  pages
    .filter((page) => page.side === side)
    .map((page) => <Entry key={page.path} page={page} onPick={onPick} />)

export const Menu = ({ onPick }: { readonly onPick: () => void }) => {
  const { t } = useTranslation()
  const { session } = useSession()
  const { data: me } = useMe()
  const nameOf = (side: Side): string => {
    if (side === "operator" && session.operator !== null) {
      return `${session.operator.name} · ${t(`roles.${session.operator.role}`)}`
    }
    return me === undefined ? t(side) : `${me.organization_name} · ${me.member_name}`
  }
  return (
    <Stack gap={2} component="nav" aria-label={t("menu")}>
      {sidesOf(session).map((side) => (
        <Stack key={side} gap={2} mb="md">
          <Text size="xs" fw={600} c="dimmed" px="sm" py={4} className="said">
            {nameOf(side)}
          </Text>
          <Entries side={side} onPick={onPick} />
        </Stack>
      ))}
      <Entries side={null} onPick={onPick} />
    </Stack>
  )
}
