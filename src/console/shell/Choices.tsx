/** The language, appearance and session controls in the header of every page. */
import { ActionIcon, Menu, useMantineColorScheme } from "@mantine/core"
import { IconLanguage, IconMoon, IconSun, IconSunMoon, IconUserCircle } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import { useLocation } from "wouter"
import { useSession } from "../gateway/hooks.tsx"
import { isSignedIn } from "../gateway/session.ts"
import { choose, type Language, languages } from "../words/words.ts"

const names = Object.keys(languages).filter((name): name is Language => name in languages)
const schemes = [
  { scheme: "light", icon: IconSun },
  { scheme: "dark", icon: IconMoon },
  { scheme: "auto", icon: IconSunMoon }
] as const

const SIZE = 18

export const Choices = () => {
  const { t, i18n } = useTranslation()
  const { setColorScheme } = useMantineColorScheme()
  const { session, signOut } = useSession()
  const [, navigate] = useLocation()
  return (
    <ActionIcon.Group>
      <Menu>
        <Menu.Target>
          <ActionIcon variant="default" size="lg" aria-label={t("language")}>
            <IconLanguage size={SIZE} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {names.map((name) => (
            <Menu.Item
              key={name}
              lang={name}
              fw={i18n.language === name ? 700 : 400}
              onClick={() => void choose(name)}
            >
              {languages[name]}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      <Menu>
        <Menu.Target>
          <ActionIcon variant="default" size="lg" aria-label={t("appearance")}>
            <IconSunMoon size={SIZE} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {schemes.map(({ scheme, icon: Icon }) => (
            <Menu.Item
              key={scheme}
              leftSection={<Icon size={16} />}
              onClick={() => setColorScheme(scheme)}
            >
              {t(scheme)}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      {isSignedIn(session) ? (
        <Menu>
          <Menu.Target>
            <ActionIcon variant="default" size="lg" aria-label={t("signedInAs")}>
              <IconUserCircle size={SIZE} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            {session.person == null ? null : <Menu.Label>{session.person.name}</Menu.Label>}
            <Menu.Item onClick={() => navigate("/sign-in")}>{t("signIn.add")}</Menu.Item>
            <Menu.Item
              onClick={() => {
                signOut()
                navigate("/")
              }}
            >
              {t("signOut")}
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      ) : null}
    </ActionIcon.Group>
  )
}
