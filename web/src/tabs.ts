// The right side: three panels, one at a time.

import { h } from "./dom";
import { icon, type IconName } from "./icons";
import { prefs, setPrefs, type Prefs } from "./prefs";

export interface Tab {
    name: Prefs["tab"];
    title: string;
    icon: IconName;
    content: HTMLElement[];
}

export function makeTabs(tabs: Tab[]): HTMLElement {
    const bar = h("div", { class: "tabs", role: "tablist" });
    const body = h("div", { class: "tabbody" });
    for (const tab of tabs) {
        const button = h("button", { role: "tab", "data-tab": tab.name }, icon(tab.icon), tab.title);
        const panel = h("div", { role: "tabpanel", "aria-label": tab.title }, ...tab.content);
        button.addEventListener("click", () => setPrefs({ tab: tab.name }));
        bar.append(button);
        body.append(panel);
        prefs.use((now) => {
            button.setAttribute("aria-selected", String(now.tab === tab.name));
            panel.hidden = now.tab !== tab.name;
        });
    }
    return h("aside", { class: "side right", "aria-label": "Panels" }, bar, body);
}
