/** A menu of the actions on a row. */
import { ActionIcon, Menu } from "@mantine/core"
import { IconDots } from "@tabler/icons-react"
import { useRef } from "react"
import { useTranslation } from "react-i18next"
import { inks } from "./StateBadge.tsx"

interface RowAction {
  readonly label: string
  readonly isDangerous?: boolean
  readonly onPick: () => void
}

interface Props {
  /** The name of the row, for screen readers. */
  readonly of: string
  readonly actions: ReadonlyArray<RowAction>
}

export const RowMenu = ({ of, actions }: Props) => {
  const { t } = useTranslation()
  const button = useRef<HTMLButtonElement>(null)
  if (actions.length === 0) return null
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon
          ref={button}
          variant="subtle"
          color="gray"
          aria-label={`${t("actions")}: ${of}`}
        >
          <IconDots size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {actions.map(({ label, isDangerous = false, onPick }) => (
          <Menu.Item
            key={label}
            {...(isDangerous ? { c: inks.bad } : {})}
            onClick={() => {
              // When a dialog closes, the focus returns to the element that had it before. The menu
              // item disappears, so the focus moves to the button first.
              button.current?.focus()
              onPick()
            }}
          >
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
