/** The frame around every page: menu, session, language and appearance. */
import {
  Alert,
  Anchor,
  AppShell,
  Burger,
  Button,
  Center,
  Group,
  Loader,
  NavLink,
  Stack,
  Text,
  Title
} from "@mantine/core"
import { useDisclosure, useDocumentTitle } from "@mantine/hooks"
import { Suspense, useEffect, useRef } from "react"
import { useTranslation } from "react-i18next"
import { Link, Redirect, Route, Switch, useLocation } from "wouter"
import { useSession } from "../gateway/hooks.tsx"
import { Choices } from "./Choices.tsx"
import { pages, type Side } from "./pages.ts"
import { SignIn } from "./SignIn.tsx"

const MENU_WIDTH = 220
const HEADER_HEIGHT = 56

const isAt = (place: string, path: string): boolean =>
  place === path || place.startsWith(`${path}/`)

const Menu = ({ onPick }: { readonly onPick: () => void }) => {
  const { t } = useTranslation()
  const { session } = useSession()
  const [place] = useLocation()
  const sides: ReadonlyArray<Side> = [
    ...(session.apiKey === null ? [] : (["developer"] as const)),
    ...(session.operator === null ? [] : (["operator"] as const))
  ]
  return (
    <Stack gap={2} component="nav" aria-label={t("menu")}>
      {sides.map((side) => (
        <Stack key={side} gap={2} mb="md">
          <Text size="xs" fw={600} c="dimmed" px="sm" py={4}>
            {side === "operator" && session.operator !== null
              ? `${session.operator.name} · ${t(`roles.${session.operator.role}`)}`
              : t(side)}
          </Text>
          {pages
            .filter((page) => page.side === side)
            .map(({ name, path, icon: Icon }) => (
              <NavLink
                key={path}
                component={Link}
                href={path}
                label={t(`pages.${name}`)}
                leftSection={<Icon size={18} stroke={1.75} />}
                active={isAt(place, path)}
                aria-current={place === path ? "page" : undefined}
                onClick={onPick}
              />
            ))}
        </Stack>
      ))}
    </Stack>
  )
}

const Opened = ({ children }: { readonly children: React.ReactNode }) => (
  <Suspense
    fallback={
      <Center h={200}>
        <Loader />
      </Center>
    }
  >
    {children}
  </Suspense>
)

/** What was opened is what a keyboard and a screen reader go on with. */
const useFocusOnOpening = () => {
  const [place] = useLocation()
  const main = useRef<HTMLElement>(null)
  const before = useRef(place)
  useEffect(() => {
    if (before.current === place) return
    before.current = place
    main.current?.focus({ preventScroll: true })
    window.scrollTo(0, 0)
  }, [place])
  return main
}

const Pages = () => {
  const { t } = useTranslation()
  const { session } = useSession()
  const seen = pages.filter(({ side }) =>
    side === "operator" ? session.operator !== null : session.apiKey !== null
  )
  const [first] = seen
  return (
    <Switch>
      {seen.map(({ path, view: View }) => (
        <Route key={path} path={path} nest>
          <Opened>
            <View />
          </Opened>
        </Route>
      ))}
      <Route path="/sign-in">
        <SignIn />
      </Route>
      {first === undefined ? null : (
        <Route path="/">
          <Redirect to={first.path} replace />
        </Route>
      )}
      <Route>
        <Stack align="flex-start">
          <Title order={1}>{t("notFound")}</Title>
          <Button component={Link} href="/">
            {t("home")}
          </Button>
        </Stack>
      </Route>
    </Switch>
  )
}

export const App = () => {
  const { t } = useTranslation()
  const { session, hasEnded } = useSession()
  const [place] = useLocation()
  const [isOpen, { toggle, close }] = useDisclosure(false)
  const main = useFocusOnOpening()
  const open = pages.find(({ path }) => isAt(place, path))
  useDocumentTitle(open === undefined ? t("title") : `${t(`pages.${open.name}`)} · ${t("title")}`)
  const isSignedIn = session.apiKey !== null || session.operator !== null
  return (
    <>
      <a className="skip" href="#content">
        {t("skip")}
      </a>
      <AppShell
        header={{ height: HEADER_HEIGHT }}
        navbar={{
          width: MENU_WIDTH,
          breakpoint: "sm",
          collapsed: { mobile: !isOpen, desktop: !isSignedIn }
        }}
        padding="md"
      >
        <AppShell.Header px="md">
          <Group h="100%" justify="space-between" wrap="nowrap">
            <Group gap="sm" wrap="nowrap">
              {isSignedIn ? (
                <Burger
                  opened={isOpen}
                  onClick={toggle}
                  hiddenFrom="sm"
                  size="sm"
                  aria-label={t("menu")}
                  aria-expanded={isOpen}
                />
              ) : null}
              <Anchor
                component={Link}
                href="/"
                fw={700}
                c="var(--mantine-color-text)"
                underline="never"
              >
                {t("title")}
              </Anchor>
            </Group>
            <Choices />
          </Group>
        </AppShell.Header>
        <AppShell.Navbar p="xs">{isSignedIn ? <Menu onPick={close} /> : null}</AppShell.Navbar>
        <AppShell.Main id="content" ref={main} tabIndex={-1} style={{ outline: "none" }}>
          {isSignedIn && hasEnded ? (
            <Alert color="orange" role="status" mb="md">
              {t("signIn.ended")}
            </Alert>
          ) : null}
          {isSignedIn ? <Pages /> : <SignIn />}
        </AppShell.Main>
      </AppShell>
    </>
  )
}
