import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app/App";
import { initTheme } from "./app/theme";
import "./styles/tokens.css";
import "./styles/base.css";

initTheme();
const page = document.getElementById("page");
if (page !== null) {
  createRoot(page).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
}
