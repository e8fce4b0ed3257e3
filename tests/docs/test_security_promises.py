"""Every promise of the security documentation has a test that is named after it.

`PROMISES` has, for each page, words of the promise as they are on the page, and the tests that prove it. A sentence that
promises nothing is in `ADVICE`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from plait.config.key import Key
from plait.config.keys import KEYS
from plait.server.http import connections
from plait.server.http.middleware.request_checks import RequestPolicy

ROOT = Path(__file__).parents[2]

PROMISES: dict[str, dict[str, str]] = {
    "docs/server.md": {
        "so every request needs your token": "test_every_route_needs_authentication",
        "A token is 256 random bits": "test_a_token_is_256_random_bits_and_stays",
        "readable only by you": "test_only_the_owner_can_read_the_token_whatever_the_umask_is",
        "If others can read the file, the server refuses all requests":
            "test_all_requests_are_rejected_while_others_can_read_the_token",
        "Send `Authorization: Bearer …`": "test_the_token_authenticates",
        "Tokens in URLs aren't accepted": "test_a_token_in_the_url_is_ignored",
        "Every route needs it except `GET /health` and `/login.css`":
            "test_without_a_token_only_health_is_answered test_the_stylesheet_needs_no_login_and_reads_no_body",
        "The read-only token allows only `GET` and `HEAD`; the rest is 403": "test_read_only_access_allows_no_changes",
        "Rotation takes effect at once, without a restart": "test_a_running_server_notices_a_rotation_at_once",
        "Open event streams go silent within a second and close":
            "test_a_token_rotation_ends_open_streams test_a_stream_ends_when_its_token_is_revoked",
        "Tokens are compared in constant time": "test_tokens_are_compared_in_constant_time",
        "After ten wrong tokens in a minute an address gets 429":
            "test_ten_wrong_tokens_a_minute_block_wrong_ones_but_not_the_right_one",
        "works once, within ten minutes, also across restarts":
            "test_a_login_link_works_once test_a_login_link_works_for_ten_minutes"
            " test_a_used_login_link_stays_used_after_a_restart",
        "Prefetch and `HEAD` don't use it up":
            "test_prefetching_does_not_use_up_the_link test_methods_other_than_get_do_not_use_up_the_link",
        "Pages opened without a login show the command that makes a link":
            "test_without_a_login_the_page_shows_the_command_for_a_link",
        "is `HttpOnly`, `SameSite=Strict`, `Secure` under TLS, and valid for thirty days":
            "test_the_link_sets_a_cookie_and_redirects_to_the_page test_the_cookie_is_secure_over_tls"
            " test_a_cookie_is_valid_for_thirty_days",
        "a restart keeps it, a rotation ends it":
            "test_a_cookie_is_valid_after_a_server_restart"
            " test_rotation_invalidates_both_tokens_all_cookies_and_all_links",
        "`POST /logout` removes it from the browser": "test_logging_out_deletes_the_cookie",
        "a foreign `Origin` (also `null`) gets 403": "test_a_post_from_another_origin_is_rejected",
        "With the cookie, changes need `Origin`": "test_a_cookie_is_accepted_only_from_the_server_s_own_pages",
        "There is no CORS and there are no WebSockets":
            "test_there_are_no_cors_headers test_web_sockets_are_closed",
        "unknown host names get 421": "test_a_foreign_host_name_is_rejected test_other_host_names_are_rejected",
        "Known are `127.0.0.1`, `localhost`, `[::1]`, `--host` and `--allow-host`":
            "test_loopback_names_are_accepted test_allowed_host_names_are_accepted",
        "any IP address is accepted, but no other name": "test_allowed_host_names_are_accepted",
        "a strict Content-Security-Policy": "test_every_response_has_the_security_headers",
        "no caching of API responses unless a route allows it": "test_api_responses_are_not_cached_by_default",
        "body: 1 MiB (413) within 30 s (408)":
            "test_a_body_with_a_large_content_length_is_not_read test_a_slow_body_is_rejected",
        "not both `Content-Length` and `Transfer-Encoding` (400)":
            "test_a_malformed_request_gets_400_and_the_connection_is_closed",
        "URL: 16 KiB (414), no control characters (400)": "test_invalid_and_long_urls_are_rejected",
        "headers: 100, 32 KiB in total (431, 400), within 10 s":
            "test_too_many_or_too_long_headers_are_rejected test_silent_and_slow_connections_are_closed",
        "unauthenticated connections: 64; beyond that the oldest is closed after 2 s":
            "test_unauthenticated_connections_never_displace_authenticated_ones"
            " test_the_request_limits_are_the_documented_ones",
        "Bodies are read only after authentication": "test_an_unauthenticated_body_is_not_read_as_another_request",
        "Authenticated connections are never closed to make room":
            "test_unauthenticated_connections_never_displace_authenticated_ones",
        'Errors are JSON, `{"error": …, "hint": …}`, or a small page in a browser':
            "test_a_program_gets_a_rejection_as_json test_a_browser_gets_an_html_page_for_a_rejection",
        "Reading a repository runs nothing from it":
            "test_reading_a_repository_runs_nothing_from_it test_finding_a_repository_runs_none_of_its_programs",
        "no module from its settings": "test_planning_loads_only_trusted_modules",
        "Unreadable task files are reported as such": "test_a_deeply_nested_task_file_is_reported_as_a_problem",
        "lead out of the checkout [aren't read]": "test_a_symlink_in_the_task_folder_is_not_followed",
        "Titles, logs and diffs are sent as text, never as HTML":
            "test_html_and_terminal_escapes_in_titles_are_text test_html_and_terminal_escapes_in_logs_are_text"
            " test_a_diff_is_sent_as_git_prints_it",
        "Images in diffs can run nothing": "test_an_image_in_a_diff_can_run_nothing test_routes_can_t_weaken_the_security_headers",
        "Of a diff, only the files that it changes can be read": "test_a_file_of_a_diff_is_sent_as_a_whole",
        "By default the server binds to `127.0.0.1`": "test_by_default_the_server_binds_to_loopback_only",
        "plait checks at startup that they match and that others can't read the key":
            "test_a_key_of_another_certificate_is_refused test_a_key_that_others_can_read_is_refused",
        "plait ignores `X-Forwarded-…`": "test_forwarded_headers_are_ignored",
    },
    "docs/trust.md": {
        "plait runs them only after you trust them":
            "test_yes_does_not_trust_the_repositorys_commands test_trusted_commands_run_until_they_change",
        "Commands that you confirm in `plait init`, also with `--yes`, or save through the page or the API are trusted":
            "test_confirmed_commands_are_trusted test_a_command_is_trusted_by_whoever_saves_it"
            " test_saved_settings_that_contain_commands_need_trust",
        "On a terminal `plait run` asks by itself and remembers a yes": "test_trust_given_at_the_terminal_is_saved",
        "Elsewhere it exits with 2 and prints what to type": "test_yes_does_not_trust_the_repositorys_commands",
        "`plait run --yes` doesn't answer this question": "test_yes_does_not_answer_the_trust_question",
        "`verify`, `gate`, `score`, `agent_command`: commands": "test_the_documented_settings_need_trust",
        "`programs`, `args`: a command and its arguments": "test_the_documented_settings_need_trust",
        "`permissions`: overrides what you allow agents to do": "test_permissions_of_agents_need_trust",
        "`readable`, `writable`, `variables`, `hosts`, `image`, `include_checks`": "test_the_documented_settings_need_trust",
        "`checks`, `key`, a remote `base_url`": "test_settings_that_send_secrets_or_run_commands_need_trust",
        "`setup`, `[merge]` `regenerate`: commands": "test_the_documented_settings_need_trust",
        "`hooks = true`: the repository's hooks are commands":
            "test_the_documented_settings_need_trust test_hooks_are_not_run_by_default",
        "Beads' hooks (`.beads/hooks`) never run": "test_writing_a_status_with_bd_runs_no_hook_of_the_repository",
        "`location`: where plait writes": "test_a_repository_can_not_choose_where_worktrees_are_without_trust",
        "files outside of the repository that its sources lead to": "test_what_the_user_allows_on_this_machine_is_read",
        "if they name a Python module": "test_an_agent_that_is_a_command_or_a_module_needs_trust",
        "`plait next` also ask for the format": "test_planning_loads_only_trusted_modules",
        "plait only asks for settings in effect": "test_personal_and_harmless_settings_need_no_trust",
        "Your own settings need no trust": "test_the_users_own_settings_are_trusted",
        "If a command changes, plait asks again and shows what changed":
            "test_changed_and_new_commands_are_marked_and_trusted_ones_stay",
        "with and without `agent_shell` are two commands": "test_the_same_command_run_by_a_shell_is_not_trusted",
        "is still trusted until you revoke it":
            "test_changed_and_new_commands_are_marked_and_trusted_ones_stay"
            " test_trusted_commands_can_be_listed_and_revoked",
        "including its linked worktrees, but not in other clones":
            "test_a_linked_worktree_is_the_same_repository test_a_clone_elsewhere_is_another_repository",
        "distinguishes a different repository at the same path":
            "test_another_repository_at_the_same_path_is_another_one",
        "escapes control, invisible and bidirectional characters":
            "test_control_characters_in_commands_are_escaped",
        "Your decisions are stored in your state folder": "test_trust_is_not_stored_in_the_repository",
        "on Linux), readable only by you": "test_only_the_user_can_read_or_write_it_whatever_the_umask",
        "A file there that is damaged, or that others could write, is ignored":
            "test_a_damaged_file_is_ignored test_a_file_that_others_could_write_is_ignored",
        "it doesn't follow a link or a path in the repository's settings out of the checkout":
            "test_the_repository_can_not_lead_out_of_the_checkout"
            " test_a_link_that_is_changed_between_check_and_read_is_not_followed"
            " test_a_folder_that_is_changed_between_check_and_read_is_not_followed"
            " test_a_prompt_template_outside_the_repository_is_not_sent_to_a_model"
            " test_settings_that_link_out_of_the_repository_are_not_read"
            " test_a_status_is_not_written_through_a_link_out_of_the_repository",
        "Such a source is left out, with a warning that doesn't say where it leads":
            "test_the_repository_can_not_lead_out_of_the_checkout",
        "This holds for the server, MCP and the command line":
            "test_a_symlink_in_the_task_folder_is_not_followed"
            " test_a_link_in_the_checkout_is_not_what_the_user_names",
        "To allow one on this machine, run `plait trust`": "test_what_the_user_allows_on_this_machine_is_read",
        "What you name yourself needs no permission":
            "test_what_the_user_names_is_read test_a_link_in_the_checkout_is_not_what_the_user_names",
        "`prompt` and `plait.toml` can't be allowed":
            "test_a_prompt_template_outside_the_repository_is_not_sent_to_a_model"
            " test_settings_that_link_out_of_the_repository_are_not_read",
        "Model jobs and `copy` follow no link at all":
            "test_a_link_in_the_context_is_not_read test_a_job_that_names_a_link_does_not_start"
            " test_a_link_in_the_checkout_is_copied_as_a_link",
        "plait uses it only if you wrote it, at this path":
            "test_own_state_is_used_without_a_question test_an_engine_runs_nothing_of_copied_state"
            " test_the_state_of_another_user_is_set_aside",
        "nothing in it runs, and the command exits with 2":
            "test_a_command_reports_copied_state_and_runs_nothing_of_it"
            " test_the_server_reports_copied_state_and_runs_nothing_of_it",
        "Repeat it to start without that state": "test_a_command_reports_copied_state_and_runs_nothing_of_it",
        "shows what it would run and puts it back":
            "test_the_review_shows_what_would_run test_the_owner_reviews_and_accepts_a_moved_state",
        "State that belongs to another user, or that a running engine uses, isn't moved":
            "test_state_of_another_owner_stays_where_it_is test_state_that_an_engine_uses_stays_where_it_is",
        "`plait doctor` lists what was set aside": "test_doctor_reports_copied_state_and_then_where_it_is",
        "and `plait trust` never run commands": "test_planning_runs_no_command_of_a_task_file",
        "`env:` can set any variable": "test_a_tasks_variables_override_all_but_plaits_own",
        "A task file can't load a Python module or change how another task runs":
            "test_a_task_file_cannot_choose_a_module_to_load test_a_task_file_changes_only_its_own_task",
        "plait never puts a secret on a command line": "test_only_the_agent_sees_a_secret",
        "Prompts and scripts are files or standard input": "test_only_the_agent_sees_a_secret",
        "Agents, setup, verify and gate don't get plait's own tokens":
            "test_tokens_of_plait_are_not_in_an_agents_environment"
            " test_the_servers_token_is_not_in_an_agents_environment_under_any_name"
            " test_git_and_regenerating_commands_get_no_token_of_plait",
        "plait replaces secrets with `***` in the journal": "test_only_the_agent_sees_a_secret",
        "in diffs and conflicts on the page, over HTTP and MCP":
            "test_logs_diffs_and_conflicts_are_sent_without_secrets_also_after_the_batch",
        "They stay masked after a batch ends":
            "test_a_secret_of_the_batch_stays_masked_after_the_environment_is_deleted",
        "plait overwrites the secrets in its transcript, with as many bytes":
            "test_a_masked_text_reads_as_the_redacted_one test_what_an_attempt_printed_is_masked_when_it_has_ended",
        "plait deletes its environment and keeps fingerprints":
            "test_a_secret_in_a_diff_is_recognised_after_the_environment_is_deleted",
        "The key of the fingerprints is in your state folder, not in the repository":
            "test_a_copy_of_the_repository_has_no_key_for_its_fingerprints",
        "plait recognises a secret by its variable's name":
            "test_a_variable_is_secret_by_its_name test_other_variables_are_not_secret",
        "or by its form": "test_a_key_is_recognised_by_its_shape test_a_redacted_private_key_keeps_its_lines",
        "passwords in URLs (those from variables like `DATABASE_URL` also on their own)":
            "test_a_password_in_an_address_is_hidden_everywhere",
        "each has mode 600": "test_the_files_are_readable_only_by_their_owner test_only_the_agent_sees_a_secret",
        "the batch ends and all transcripts are masked": "test_the_environment_is_deleted_when_all_is_masked",
        "the attempt ends: then they are masked": "test_what_an_attempt_printed_is_masked_when_it_has_ended",
        "what the agent gets: task texts": "test_forgetting_a_batch_removes_its_files_and_keeps_unmerged_work",
        "If the engine is killed, the next one does what is left":
            "test_what_a_crashed_engine_left_is_masked_by_the_next_one",
        "which prints what git has, to be applied elsewhere":
            "test_logs_diffs_and_conflicts_are_sent_without_secrets_also_after_the_batch",
    },
    "docs/sandbox.md": {
        "limits what it, its tools, and the commands `setup`, `verify` and `gate` can reach":
            "test_everything_that_runs_what_an_agent_wrote_is_confined",
        "A task can ask for a stronger sandbox in its front matter (`sandbox: worktree`), never for a weaker one":
            "test_a_task_gets_a_stronger_sandbox_never_a_weaker_one",
        "A repository's `plait.toml` can do the same":
            "test_a_repository_or_task_can_only_ask_for_a_stronger_sandbox",
        "`[sandbox]` and `[agents.sandboxes]` in it need [trust]": "test_the_documented_settings_need_trust",
        "nothing starts, and the message says what to install; `auto` says what it fell back to":
            "test_without_bubblewrap_nothing_starts_and_auto_says_so",
        "It has no network but a proxy outside of it, and limits":
            "test_there_is_no_way_around_the_proxy test_limits_of_strict_hold",
        "Reached are the hosts of the agent's provider":
            "test_a_strict_attempt_reaches_listed_hosts_only_and_the_log_names_the_others"
            " test_a_strict_attempt_reaches_its_provider_wherever_the_user_says_it_is"
            " test_the_settings_add_hosts_and_checks_reach_no_provider",
        "what ignores it has no network; vsock and io_uring are refused":
            "test_programs_of_a_strict_attempt_find_the_proxy test_no_socket_leads_around_the_network_of_strict",
        "A listed name that leads to this machine, or to its cloud's service with credentials, is blocked":
            "test_a_listed_name_that_resolves_to_this_machine_is_blocked"
            " test_nor_to_a_service_with_the_credentials_of_the_machine",
        "The limits of memory and processes hold for the attempt as a whole": "test_limits_of_strict_hold",
        "An attempt that writes more than four times `sandbox.disk` is ended":
            "test_an_attempt_that_fills_the_disk_with_many_files_is_ended",
        "the plan warns of that, and `auto` takes strict instead": "test_a_container_without_a_filter_is_no_stronger",
        "**container** has the files, the network and the limits of strict":
            "test_an_attempt_has_its_worktree_and_nothing_else_of_the_machine",
        "its worktree | read, write | read, write": "test_git_works_in_a_worktree_and_leaves_the_repository_alone",
        "commits on the task's branch become the result, others are saved, the rest is discarded":
            "test_commits_of_the_agent_stay_in_the_history test_commits_on_another_branch_and_stashes_are_saved"
            " test_nothing_that_an_agent_does_with_git_changes_the_repository",
        "the repository: its checkout, hooks, settings, refs":
            "test_a_hostile_agent_reaches_what_the_page_says test_a_branch_of_the_user_is_not_moved",
        "other tasks' worktrees": "test_a_hostile_agent_reaches_what_the_page_says",
        "plait's state, journal, token, settings":
            "test_a_hostile_agent_reaches_what_the_page_says"
            " test_an_attempt_on_a_node_reaches_neither_its_service_nor_other_engines",
        "empty and private, except for programs in it":
            "test_the_home_folder_is_empty_and_private"
            " test_folders_of_programs_are_readable_without_what_is_private_in_them",
        "the agent's login and its sessions":
            "test_a_sandboxed_tool_works_reports_and_continues_its_session",
        "the agent's settings (hooks, plugins) | read, write | a copy": "test_a_hostile_agent_reaches_what_the_page_says",
        "keys and passwords:":
            "test_a_hostile_agent_reaches_what_the_page_says test_no_key_of_the_login_session_is_in_reach",
        "and others that services have when it starts":
            "test_a_socket_of_a_service_anywhere_on_the_disk_is_out_of_reach",
        "the agent's key, and `sandbox.variables`":
            "test_an_attempt_gets_the_key_of_its_agent_and_no_other test_the_settings_add_secrets",
        "the rest of the disk | read, write | read": "test_a_hostile_agent_reaches_what_the_page_says",
        "private, removed afterwards | private, in memory, each `sandbox.disk` at most":
            "test_the_private_folders_are_removed_and_results_are_kept test_limits_of_strict_hold",
        "`sandbox.memory`, `sandbox.processes`, `sandbox.disk`":
            "test_limits_of_strict_hold test_an_attempt_that_fills_the_disk_with_many_files_is_ended",
        "files that the program which started plait had left open":
            "test_a_folder_that_the_engine_was_started_with_is_not_inherited",
        "is never a file that a link leads to":
            "test_files_are_copied_and_links_are_not_followed test_a_link_that_appears_after_a_look_is_not_followed"
            " test_git_reads_copies_while_a_sandboxed_agent_may_be_running",
        "Repositories that an agent makes in its worktree run nothing when plait captures it":
            "test_a_repository_that_the_agent_stages_as_a_submodule_runs_nothing"
            " test_a_repository_in_the_place_of_the_worktrees_own_runs_nothing"
            " test_what_a_sandboxed_gate_left_in_a_submodule_runs_nothing",
        "other processes: see, signal, trace": "test_a_hostile_agent_reaches_what_the_page_says",
        "outlive the attempt | ended when found | no": "test_nothing_outlives_its_attempt",
        "root's capabilities, setuid programs":
            "test_a_hostile_agent_reaches_what_the_page_says test_root_changes_nothing_of_the_kernel",
        "listed hosts only, through a proxy; others are in the log":
            "test_another_host_is_blocked_and_named_in_the_output",
        "A task's `env:` is set in the sandbox only":
            "test_nothing_has_its_name_outside test_variables_of_a_task_act_only_inside",
        "that it removes are added again when it has ended":
            "test_an_attempt_can_not_remove_what_says_that_a_host_was_blocked",
        "except hooks, settings and other worktrees": "test_git_uses_no_settings_of_an_agent_in_place_afterwards",
        "Tokens and passwords in `.git/config` are left out of the copy":
            "test_a_view_has_the_settings_of_the_repository_without_passwords",
        "each judge and each run of the score command has a sandbox of its own":
            "test_a_judge_changes_nothing_but_its_vote test_a_candidate_changes_nothing_but_its_score",
        "A test runs an agent that tries the following, as root and as an ordinary user":
            "test_a_hostile_agent_reaches_what_the_page_says"
            " test_a_hostile_agent_of_an_ordinary_user_reaches_no_more",
        " | yes | ": "test_a_hostile_agent_reaches_what_the_page_says",
    },
    "docs/mcp.md": {
        "`plait mcp` offers all tools": "test_an_ordinary_checkout_has_full_access",
        "calls to others are refused": "test_a_read_only_server_neither_lists_nor_runs_changing_tools",
        "it is read-only too, so that a task doesn't control its own batch":
            "test_changing_tools_are_denied_inside_an_attempt"
            " test_a_task_worktree_is_recognised_without_environment_variables",
        "Annotations tell hosts which tools only read": "test_every_tool_has_a_description_schemas_and_hints",
        "`run` names the missing ones, and no tool can grant it":
            "test_untrusted_commands_are_not_run test_no_tool_grants_trust",
        "The server marks them as data, not instructions":
            "test_the_instructions_call_titles_logs_and_diffs_data test_titles_and_logs_are_returned_as_plain_data",
        "with the same token and host checks": "test_mcp_over_http_needs_the_token_and_a_known_host",
        "a read-only token gets the read-only tools":
            "test_a_read_only_token_gets_only_the_reading_tools"
            " test_a_read_only_token_changes_nothing_however_it_is_used",
        "`?project=ID` selects a project": "test_the_project_parameter_chooses_the_project",
        "fetch it first, except with a read-only token":
            "test_a_mirror_is_fetched_before_planning_with_a_full_token",
        "The endpoint is stateless and only answers `POST`":
            "test_a_read_only_token_changes_nothing_however_it_is_used",
        'a pending `wait` returns `why: "time"`': "test_a_waiting_tool_call_is_answered_at_shutdown",
    },
    "docs/http.md": {
        "as text from that byte on, redacted and without terminal escapes":
            "test_a_secret_is_redacted_from_any_offset test_html_and_terminal_escapes_in_logs_are_text",
        "returns the change as `git diff` prints it, redacted":
            "test_logs_diffs_and_conflicts_are_sent_without_secrets_also_after_the_batch",
        "returns both sides of a task's conflict, redacted":
            "test_logs_diffs_and_conflicts_are_sent_without_secrets_also_after_the_batch",
    },
    "docs/deploy/README.md": {
        "output; never contains a login link": "test_under_systemd_no_login_link_is_printed_but_its_command",
        "runs as a non-root user": "test_the_container_runs_as_a_non_root_user",
    },
    "README.md": {
        "commands from a repository need your [trust]": "test_yes_does_not_trust_the_repositorys_commands",
        "secrets are redacted": "test_only_the_agent_sees_a_secret",
        "the server needs a [token]": "test_every_route_needs_authentication",
    },
}  # fmt: skip

# Where every sentence is a promise or advice, and the heading that this begins with ("": the whole page).
PAGES = {"docs/server.md": "## Security", "docs/trust.md": "", "docs/sandbox.md": "", "docs/mcp.md": "## Permissions"}

# Beginnings of sentences that explain, advise, or say what is not promised.
ADVICE = (
    "From other machines, best first:",
    "An SSH tunnel:",
    "Plain HTTP on another address exposes the token",
    "For `Strict-Transport-Security`, use a proxy.",
    "Anyone who can read your files or runs as you",
    "Other servers on the same host name",
    "On a shared machine, log in under a name",
    "Anyone you gave a token to",
    "Denial of service from a network",
    "**Not what the command calls.**",
    "A task's own `run:`, `verify:` and `env:` need no extra trust",
    "Running a repository's tasks means running what its authors wrote",
    "It can't recognise others.",
    "plait shows what it reads on the page and sends it to models.",
    "Hard links can't be told from files.",
    "Other variables of yours, such as `GH_TOKEN`, they do get.",
    "file | content | kept until",
    "`verify`, `gate`, `agent_command` and `args` are visible to everyone",
    "Without a sandbox, an agent can do whatever you can.",
    "**worktree** needs [bubblewrap]",
    "On macOS it uses `sandbox-exec`; that profile is untested.",
    "**strict** needs bubblewrap",
    "It uses podman, or docker.",
    "`model` and contests, which are parts of plait, can't run in it.",
    "What you should know:",
    "The agent's login has to be in the sandbox",
    "An agent that is tricked into it can read and send that key.",
    "All commits of the repository can be read in it",
    "System calls are refused on x86-64 and ARM64 only",
    "As root, an attempt can read what only root may read",
    "Run plait as an ordinary user if there is more.",
    "To add a folder to its `PATH`",
    "It can change its own log.",
    "With `workspace.hooks`, the repository's hooks run outside",
    "Don't use them if agents may change what they run.",
    "If you or an editor use git in them",
    "Ignored files that setup made",
    "Named pipes on the disk",
    "Caches in your home folder",
    "To share one, list it in `sandbox.writable`",
    "That is no protection against a hostile agent",
    "Use worktrees for that.",
    "Those in `~/.gitconfig` can be read.",
    "What a strict attempt reads can be sent to the hosts",
    "Registries take uploads from anyone",
    "A score is still what the command prints",
    "In `worktree`, services of this machine and its network can be reached",
    "Commits in submodules fail",
    "| off | worktree | strict |",
    "attempt | off | worktree | strict |",
    "How it works: [design/0024]",
    "This prevents accidents",
    "`approve`, and `feedback` on a budget question",
    "Titles, logs and diffs come from task files and other agents.",
)


def read_page(page: str) -> str:
    """On one line, without examples."""
    text = (ROOT / page).read_text("utf-8")
    text = text[text.index(PAGES.get(page, "")) :]
    return re.sub(r"^```.*?^```\n", "", text, flags=re.DOTALL | re.MULTILINE)


def split_sentences(text: str) -> Iterator[str]:
    for block in re.split(r"\n\s*\n|\n(?=- |\d\. |\|)", text):
        line = re.sub(r"^(?:-|\d\.|\|) ", "", " ".join(block.split()))
        if line and not line.startswith(("#", "|--")):
            yield from re.split(r"(?<=[.!?])\s+(?=[A-Z`*])", line)


@cache
def find_test_names() -> frozenset[str]:
    names = re.compile(r"^ *(?:async )?def (test_\w+)", re.MULTILINE)
    files = (path for path in (ROOT / "tests").rglob("test_*.py") if "node_modules" not in path.parts)
    return frozenset(name for path in files for name in names.findall(path.read_text("utf-8")))


@pytest.mark.parametrize("page", PROMISES)
def test_every_promise_is_on_its_page_and_has_its_tests(page: str) -> None:
    text = " ".join(read_page(page).split()) if page in PAGES else " ".join((ROOT / page).read_text("utf-8").split())
    assert [promise for promise in PROMISES[page] if promise not in text] == []
    named = {name for names in PROMISES[page].values() for name in names.split()}
    assert named - find_test_names() == set()


@pytest.mark.parametrize("page", PAGES)
def test_every_sentence_about_security_has_a_test_or_is_advice(page: str) -> None:
    """A sentence that is listed here needs a test that is named after it, in PROMISES; or it is ADVICE."""
    sentences = split_sentences(read_page(page))
    unknown = [
        sentence
        for sentence in sentences
        if not sentence.startswith(ADVICE) and not any(promise in sentence for promise in PROMISES[page])
    ]
    assert unknown == []


def test_every_sentence_of_advice_is_still_there() -> None:
    sentences = [sentence for page in PAGES for sentence in split_sentences(read_page(page))]
    assert [advice for advice in ADVICE if not any(map(str.startswith, sentences, [advice] * len(sentences)))] == []


def test_the_documented_settings_need_trust() -> None:
    """Those under "What needs trust", and no others."""
    text = (ROOT / "docs/trust.md").read_text("utf-8")
    section = text[text.index("## What needs trust") : text.index("plait only asks for settings in effect")]
    documented = set()
    for item in re.findall(r"^- ([^:]*?)(?:,? if they|:)", section.replace("\n  ", " "), re.MULTILINE):
        table = ""
        for word in re.findall(r"`([^` ]+)(?: = true)?`", item):
            table = word if word.startswith("[") else table
            documented |= {f"{table.strip('[]')}.{word}"} - {f"{table.strip('[]')}.{table}"}
    runs_nothing = inspect.signature(Key).parameters["runs_code"].default
    assert documented == {key.name for key in KEYS if key.runs_code is not runs_nothing}


def test_the_request_limits_are_the_documented_ones() -> None:
    policy, text = RequestPolicy(), (ROOT / "docs/server.md").read_text("utf-8")
    for line in (
        f"- body: {policy.max_body_bytes >> 20} MiB (413) within {policy.body_seconds:.0f} s (408)",
        f"- URL: {policy.max_url_bytes >> 10} KiB (414)",
        (
            f"- headers: {policy.max_header_count}, {policy.max_header_bytes >> 10} KiB in total (431, 400), "
            f"within {connections.HEADER_SECONDS:.0f} s"
        ),
        (
            f"- unauthenticated connections: {connections.MAX_UNAUTHENTICATED}; beyond that the oldest is closed after "
            f"{connections.AUTHENTICATION_SECONDS:.0f} s"
        ),
    ):
        assert line in text


def test_the_container_runs_as_a_non_root_user() -> None:
    lines = (ROOT / "docs/deploy/Containerfile").read_text("utf-8").splitlines()
    assert [line for line in lines if line.startswith("USER ")][-1:] == ["USER plait"]
    assert next(number for number, line in enumerate(lines) if line == "USER plait") < lines.index(
        'ENTRYPOINT ["plait"]'
    )
