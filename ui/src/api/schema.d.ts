// Made by `npm run types` from the server's OpenAPI. Do not edit: change the server's shapes, and make it again.

export interface paths {
    "/api/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Agents
         * @description The known agents: which are installed, and which are logged in.
         */
        get: operations["listAgents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/batches": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Batches
         * @description Batches, newest first.
         */
        get: operations["listBatches"];
        put?: never;
        /**
         * Create Batch
         * @description Run these tasks; answered when the batch is in the journal. `settings` apply to this batch only. First, setup, verify
         *     and gate must pass on the base, unless `settings.preflight` is false.
         */
        post: operations["createBatch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/batches/{batch_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Batch
         * @description A batch with its tasks, at one moment.
         */
        get: operations["getBatch"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/batches/{batch_id}/approve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Approve
         * @description Let the next task of a queue start; `all`: approve all later ones too.
         */
        post: operations["approveBatch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/batches/{batch_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel
         * @description Stop running attempts and cancel all unfinished tasks.
         */
        post: operations["cancelBatch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/batches/{batch_id}/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Changes
         * @description What a batch's merged tasks changed: how many files, and what a reviewer should know.
         */
        get: operations["getChanges"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/batches/{batch_id}/diff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Batch Diff
         * @description What the batch branch has changed since its base.
         */
        get: operations["getBatchDiff"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/batches/{batch_id}/diff/file": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Batch Diff File
         * @description One file that a batch changed, as a whole: its text, or the image that it is.
         */
        get: operations["getBatchDiffFile"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/batches/{batch_id}/graph": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Graph
         * @description The tasks of a batch with their statuses, and the edges between them with reasons.
         */
        get: operations["getGraph"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/batches/{batch_id}/log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read Gate Log
         * @description The output of a gate of the batch, from an offset on.
         */
        get: operations["readGateLog"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/batches/{batch_id}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Pause
         * @description Start nothing new; running attempts continue.
         */
        post: operations["pauseBatch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/batches/{batch_id}/pr": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Pull Request Text
         * @description The text of the batch's pull request, if it were opened or updated now.
         */
        get: operations["getPullRequestText"];
        put?: never;
        /**
         * Publish
         * @description Push the batch branch, and open or update its pull request. The batch has `prUrl` when that is done.
         */
        post: operations["publishBatch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/batches/{batch_id}/recheck": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Recheck
         * @description Verify all finished work that isn't done again, and merge it. No agent runs.
         */
        post: operations["recheckBatch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/batches/{batch_id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resume
         * @description Continue what was stopped: interrupted steps run again, done tasks don't.
         */
        post: operations["resumeBatch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/batches/{batch_id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Retry
         * @description Retry all tasks that failed, timed out, conflicted or were cancelled.
         */
        post: operations["retryBatch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/batches/{batch_id}/standing": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Standing
         * @description The status of some tasks, as under `batch` in /api/tasks: for updates after an event. Unknown ids are left out, and
         *     entrants are included only by name.
         */
        get: operations["getStanding"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/batches/{batch_id}/tasks/{task_id}/approve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Approve Task
         * @description Let it start when its turn comes.
         */
        post: operations["approveTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/batches/{batch_id}/tasks/{task_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel Task
         * @description Stop its attempt and cancel it.
         */
        post: operations["cancelTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/batches/{batch_id}/tasks/{task_id}/conflict": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Conflict
         * @description Both sides of a task's conflict, file by file.
         */
        get: operations["getConflict"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/batches/{batch_id}/tasks/{task_id}/conversation": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Conversation
         * @description What happened to a task, in order: attempts and their feedback, checks, questions, merges, publishing.
         */
        get: operations["getConversation"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/batches/{batch_id}/tasks/{task_id}/diff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Task Diff
         * @description What a task changed, also while it is running. `since`: only what is different from an earlier attempt.
         */
        get: operations["getTaskDiff"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/batches/{batch_id}/tasks/{task_id}/diff/file": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Task Diff File
         * @description One file that a task changed, as a whole: its text, or the image that it is.
         */
        get: operations["getTaskDiffFile"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/batches/{batch_id}/tasks/{task_id}/drop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Drop Task
         * @description Drop it; what it merged is removed from the batch branch.
         */
        post: operations["dropTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/batches/{batch_id}/tasks/{task_id}/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Explain Task
         * @description Why a task has its status, its attempts, and what would make it continue.
         */
        get: operations["explainTask"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/batches/{batch_id}/tasks/{task_id}/feedback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Feedback
         * @description Retry it with feedback, or answer its question.
         */
        post: operations["giveFeedback"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/batches/{batch_id}/tasks/{task_id}/log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Log
         * @description The output of an attempt, from an offset on. `format=events`: as `execution:log` events, one per line.
         *
         *     Without `step` and `attempt`, of the verification or gate for which the task failed, else of its newest attempt. To
         *     continue reading from an offset, name the attempt of the answer.
         */
        get: operations["getLog"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/batches/{batch_id}/tasks/{task_id}/recheck": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Recheck Task
         * @description Verify its finished work again, and merge it. No agent runs.
         */
        post: operations["recheckTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/batches/{batch_id}/tasks/{task_id}/resolve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resolve
         * @description Resolve a task's conflict without an agent: the result is verified, merged and gated.
         */
        post: operations["resolveTaskConflict"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/batches/{batch_id}/tasks/{task_id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Retry Task
         * @description Retry it, and the tasks that it blocked.
         */
        post: operations["retryTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/batches/{batch_id}/timeline": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Timeline
         * @description Attempts, waits and merges with their times, for a chart.
         */
        get: operations["getTimeline"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/batches/{batch_id}/unpause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Unpause
         * @description Continue; `budget`: with a higher budget, after the old one was used up.
         */
        post: operations["unpauseBatch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/bulk": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run Bulk
         * @description The same action for many tasks, with a result for each.
         */
        post: operations["bulk"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Stream Events
         * @description Live events after the last received one, without a gap or a repeat.
         *
         *     Without Last-Event-ID: from now on; of one batch, from its beginning.
         */
        get: operations["listen"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Me
         * @description What the caller may do, and the versions of server and page.
         */
        get: operations["getMe"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/plan": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Plan
         * @description Preview a batch of these tasks. Nothing is started; errors in `problems` say why it can't be.
         */
        post: operations["plan"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/projects": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Projects
         * @description The repositories that this server knows; the default one first.
         */
        get: operations["listProjects"];
        put?: never;
        /**
         * Add Project
         * @description Add a checkout by its path, or a repository by its URL. A known one is updated.
         */
        post: operations["addProject"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/projects/{project_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove Project
         * @description Remove a project from the server's list. Nothing is deleted, and running batches continue.
         */
        delete: operations["removeProject"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Settings
         * @description Every setting by its name, and where it comes from.
         */
        get: operations["getSettings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change Settings
         * @description Save settings, all or none; null removes a saved value. They apply at once, also to running batches.
         */
        patch: operations["changeSettings"];
        trace?: never;
    };
    "/api/settings/schema": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Describe Settings
         * @description What each setting means, and its allowed values.
         */
        get: operations["describeSettings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tasks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Tasks
         * @description Every task of the sources, with its status in the newest batch that has it.
         */
        get: operations["listTasks"];
        put?: never;
        /**
         * Create Task
         * @description Create a task, as a file in the task folder.
         */
        post: operations["createTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/tasks/{task_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Task
         * @description A task with its texts, and the version that an edit has to name.
         */
        get: operations["getTask"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Edit Task
         * @description Change a task's file; omitted fields stay. 409 `changed`: it was changed meanwhile, and nothing was written.
         */
        patch: operations["editTask"];
        trace?: never;
    };
    "/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check Health
         * @description Whether the server answers. Needs no token.
         */
        get: operations["health"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Metrics
         * @description Prometheus metrics of all projects.
         */
        get: operations["metrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * ActionResult
         * @description An action's result: current `status` and `reason`, or why it was refused. `tasks` are all that were retried.
         */
        ActionResult: {
            /** Reason */
            reason: string | null;
            result: components["schemas"]["Outcome"];
            /** Status */
            status: components["schemas"]["TaskStatus"] | components["schemas"]["BatchStatus"] | null;
            /** Taskid */
            taskId: string | null;
            /** Tasks */
            tasks: string[];
        };
        /** ActionResults */
        ActionResults: {
            /** Batchid */
            batchId: string;
            /** Results */
            results: components["schemas"]["ActionResult"][];
        };
        /**
         * Agents
         * @description All agents; `permissions` names the installed ones that do everything without asking.
         */
        Agents: {
            /** Agents */
            agents: components["schemas"]["InstalledAgent"][];
            /** Permissions */
            permissions: string | null;
        };
        /**
         * ApproveBody
         * @description Options of an approval. `all`: approve all later tasks of this batch too.
         */
        ApproveBody: {
            /**
             * All
             * @default false
             */
            all?: boolean;
        };
        /**
         * AttemptSummary
         * @description An attempt. `completedAt` null: it is running. `told` is the feedback that its agent got beyond the task; if
         *     there is any, also the end of what the verification `toldCheck` printed. `commit` is its result. `node` is that of a
         *     cluster; null: it ran on this machine, or nowhere yet.
         */
        AttemptSummary: {
            /** Agent */
            agent: string;
            /** Attempt */
            attempt: number;
            category: components["schemas"]["Category"] | null;
            /** Commit */
            commit: string | null;
            /** Completedat */
            completedAt: string | null;
            cost: components["schemas"]["Cost"] | null;
            /** Detail */
            detail: string | null;
            diffstat: components["schemas"]["Diffstat"] | null;
            endedFor: components["schemas"]["EndWhy"] | null;
            /** Exitcode */
            exitCode: number | null;
            /** Node */
            node: string | null;
            /** Retriedfor */
            retriedFor: string | null;
            /** Startedat */
            startedAt: string;
            step: components["schemas"]["Step"];
            /** Told */
            told: components["schemas"]["ToldFeedback"][];
            /** Toldcheck */
            toldCheck: number | null;
        };
        /**
         * BallotResult
         * @description How the winner was found, or why there is none.
         * @enum {string}
         */
        BallotResult: "majority" | "points" | "tie" | "no_quorum" | "all_rejected";
        /**
         * Batch
         * @description A batch with its tasks.
         */
        Batch: {
            /** Agentseconds */
            agentSeconds: number;
            /** Base */
            base: string | null;
            /** Branch */
            branch: string | null;
            /** Completedat */
            completedAt: string | null;
            cost: components["schemas"]["Cost"];
            /** Createdat */
            createdAt: string;
            /** Eta */
            eta: string | null;
            /** Etabasis */
            etaBasis: string | null;
            /** Hint */
            hint: string | null;
            /** Id */
            id: string;
            mode: components["schemas"]["Mode"];
            /** Name */
            name: string;
            pauseCause: components["schemas"]["PauseCause"] | null;
            /** Prurl */
            prUrl: string | null;
            progress: components["schemas"]["Progress"];
            /** Projectid */
            projectId: string | null;
            /** Reason */
            reason: string;
            /** Seconds */
            seconds: number;
            settings: components["schemas"]["BatchSettings"];
            /** Shipped */
            shipped: string | null;
            /** Startedat */
            startedAt: string | null;
            status: components["schemas"]["BatchStatus"];
            /** Tasks */
            tasks: components["schemas"]["BatchTask"][];
            /** Unshipped */
            unshipped: string | null;
            /** Unwritten */
            unwritten: components["schemas"]["UnwrittenSource"][];
            /** Workingsince */
            workingSince: string | null;
        };
        /**
         * BatchHead
         * @description A batch without its tasks. `name`: the title that its tasks share, else that of the first one. `reason` explains
         *     the status, such as why the batch is paused, and `pauseCause` says for programs who or what paused it; `hint`: what
         *     to do about `unshipped`. `seconds`: time of work, up to `workingSince` if something runs; `agentSeconds`: of all
         *     attempts that have ended.
         */
        BatchHead: {
            /** Agentseconds */
            agentSeconds: number;
            /** Base */
            base: string | null;
            /** Branch */
            branch: string | null;
            /** Completedat */
            completedAt: string | null;
            cost: components["schemas"]["Cost"];
            /** Createdat */
            createdAt: string;
            /** Eta */
            eta: string | null;
            /** Etabasis */
            etaBasis: string | null;
            /** Hint */
            hint: string | null;
            /** Id */
            id: string;
            mode: components["schemas"]["Mode"];
            /** Name */
            name: string;
            pauseCause: components["schemas"]["PauseCause"] | null;
            /** Prurl */
            prUrl: string | null;
            progress: components["schemas"]["Progress"];
            /** Projectid */
            projectId: string | null;
            /** Reason */
            reason: string;
            /** Seconds */
            seconds: number;
            settings: components["schemas"]["BatchSettings"];
            /** Shipped */
            shipped: string | null;
            /** Startedat */
            startedAt: string | null;
            status: components["schemas"]["BatchStatus"];
            /** Unshipped */
            unshipped: string | null;
            /** Unwritten */
            unwritten: components["schemas"]["UnwrittenSource"][];
            /** Workingsince */
            workingSince: string | null;
        };
        /**
         * BatchSettings
         * @description The settings of a batch. Durations are in seconds.
         */
        BatchSettings: {
            /** Agents */
            agents: string[];
            budget: components["schemas"]["BudgetLimits"] | null;
            conflictBehavior: components["schemas"]["OnConflict"];
            executor: components["schemas"]["ExecutorKind"];
            /** Fallback */
            fallback: string[];
            /** Gate */
            gate: string | null;
            /** Gatetimeout */
            gateTimeout: number;
            /** Idletimeout */
            idleTimeout: number;
            isolation: components["schemas"]["Isolation"];
            /** Maxbatchsize */
            maxBatchSize: number;
            order: components["schemas"]["Order"];
            /** Phasegate */
            phaseGate: number;
            publish: components["schemas"]["Publish"];
            /** Queueautoapprove */
            queueAutoApprove: boolean;
            /** Repairs */
            repairs: number;
            /** Retries */
            retries: number;
            sandbox: components["schemas"]["SandboxMode"];
            /** Stoponfailure */
            stopOnFailure: boolean;
            taskBudget: components["schemas"]["BudgetLimits"] | null;
            /** Timeout */
            timeout: number;
            /** Verify */
            verify: string | null;
            /** Verifytimeout */
            verifyTimeout: number;
            writeBack: components["schemas"]["WriteBack"];
        };
        /**
         * BatchSpec
         * @description Which tasks to run, and how. `taskIds` omitted: every incomplete task. All else as for a new batch.
         */
        BatchSpec: {
            /**
             * Again
             * @description Whether to run what an earlier batch completed with the same text; omitted: only if `taskIds` names it
             */
            again?: boolean | null;
            contest?: components["schemas"]["ContestSpec"] | null;
            /**
             * Ignoreneeds
             * @default false
             */
            ignoreNeeds?: boolean;
            mode?: components["schemas"]["Mode"] | null;
            /** Settings */
            settings?: {
                [key: string]: components["schemas"]["JsonValue"];
            } | null;
            /** Taskids */
            taskIds?: string[] | null;
            /**
             * Withneeds
             * @default false
             */
            withNeeds?: boolean;
        };
        /**
         * BatchStatus
         * @enum {string}
         */
        BatchStatus: "pending" | "running" | "paused" | "merging" | "completed" | "partial" | "failed" | "cancelled";
        /**
         * BatchTask
         * @description A task of a batch. `short`: the reason without what the status says. `needsYou`: it waits for an answer, an
         *     approval or a decision. `seconds`: of attempts that have ended; `workingSince`: the start of the running one.
         */
        BatchTask: {
            /** Agent */
            agent: string | null;
            /** Attempt */
            attempt: number;
            /** Branch */
            branch: string | null;
            category: components["schemas"]["Category"] | null;
            /** Commit */
            commit: string | null;
            /** Completedat */
            completedAt: string | null;
            cost: components["schemas"]["Cost"];
            diffstat: components["schemas"]["Diffstat"] | null;
            /** Entrantof */
            entrantOf: string | null;
            /** Error */
            error: string | null;
            /** Foreseen */
            foreseen: components["schemas"]["PredictedConflict"][];
            /** Needsyou */
            needsYou: boolean;
            /** Phase */
            phase: string | null;
            /** Reason */
            reason: string;
            /** Seconds */
            seconds: number;
            /** Sessionid */
            sessionId: string | null;
            /** Short */
            short: string;
            /** Startedat */
            startedAt: string | null;
            status: components["schemas"]["TaskStatus"];
            /** Taskid */
            taskId: string;
            /** Title */
            title: string;
            waiting: components["schemas"]["WaitReason"] | null;
            /** Winner */
            winner: string | null;
            /** Workingsince */
            workingSince: string | null;
            /** Worktreepath */
            worktreePath: string | null;
        };
        /**
         * Batches
         * @description All batches, newest first. `engine` null: none is running. `limits`: the providers that refuse open batches.
         */
        Batches: {
            /** Batches */
            batches: components["schemas"]["ListedBatch"][];
            engine: components["schemas"]["EngineStatus"] | null;
            /** Limits */
            limits: components["schemas"]["ProviderLimit"][];
        };
        /** BudgetLimits */
        BudgetLimits: {
            /** Tokens */
            tokens: number | null;
            /** Usd */
            usd: number | null;
        };
        /**
         * BulkBody
         * @description An action for many tasks. Without `batchId`: in the newest batch of each task. `text` is for feedback, the rest
         *     for a retry or a recheck.
         */
        BulkBody: {
            action: components["schemas"]["TaskAction"];
            /**
             * Agent
             * @description Use this agent. Omitted: the same as before
             */
            agent?: string | null;
            /** Batchid */
            batchId?: string | null;
            /**
             * Gate
             * @description Command that must pass on the merged result
             */
            gate?: string | null;
            /**
             * Model
             * @description Use this model. Omitted: the same as before
             */
            model?: string | null;
            /**
             * Preflight
             * @description false: start although new commands fail on the base, or their program is missing
             */
            preflight?: boolean | null;
            /**
             * Setup
             * @description Command to run once in a new worktree
             */
            setup?: string | null;
            /** Taskids */
            taskIds: string[];
            /** Text */
            text?: string | null;
            /**
             * Timeout
             * @description Time limit of an attempt: 90m, or seconds
             */
            timeout?: string | number | null;
            /**
             * Verify
             * @description Command that must pass in a workspace
             */
            verify?: string | null;
        };
        /**
         * BulkOutcome
         * @enum {string}
         */
        BulkOutcome: "granted" | "refused" | "accepted" | "unknown";
        /**
         * BulkResult
         * @description The result for a task. `batchId` null: no batch has this task.
         */
        BulkResult: {
            /** Batchid */
            batchId: string | null;
            /** Reason */
            reason: string | null;
            result: components["schemas"]["BulkOutcome"];
            /** Status */
            status: components["schemas"]["TaskStatus"] | components["schemas"]["BatchStatus"] | null;
            /** Taskid */
            taskId: string;
            /** Tasks */
            tasks: string[];
        };
        /**
         * BulkResults
         * @description The results, in the order of `taskIds`.
         */
        BulkResults: {
            action: components["schemas"]["TaskAction"];
            /** Results */
            results: components["schemas"]["BulkResult"][];
        };
        /**
         * CallerDetails
         * @description The caller and the server. `access`: everything, or read-only. `by`: how the caller authenticated; null: without
         *     authentication. `page` changes with the built page; null: it was not built.
         */
        CallerDetails: {
            /**
             * Access
             * @enum {string}
             */
            access: "all" | "look";
            /** By */
            by: ("token" | "cookie") | null;
            /** Page */
            page: string | null;
            /** Version */
            version: string;
        };
        /**
         * Category
         * @description How an attempt ended, as the retry policy reads it.
         * @enum {string}
         */
        Category: "ok" | "task" | "verify" | "empty" | "rate_limit" | "quota" | "auth" | "overloaded" | "network" | "context" | "usage" | "killed" | "lost" | "timeout" | "idle" | "question" | "conflict" | "commit" | "merge" | "gate" | "rejected" | "outage";
        /**
         * ChangedFile
         * @description A file that a diff changes. `before` is its former name if it was renamed; lines of binary files are not counted.
         *     `tasks`: in the diff of a batch, those whose merges changed it, in their order.
         */
        ChangedFile: {
            /** Before */
            before: string | null;
            /** Binary */
            binary: boolean;
            /** Minus */
            minus: number;
            /** Path */
            path: string;
            /** Plus */
            plus: number;
            /** Tasks */
            tasks: string[];
        };
        /**
         * ChangedPreferences
         * @description `notes` say which open batches keep the old values. `accepted`: no engine has answered yet.
         */
        ChangedPreferences: {
            /** Accepted */
            accepted: boolean;
            /**
             * Accounts
             * @description account whose rate limits an agent shares; agents of one account wait together
             */
            accounts: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /**
             * Agent
             * @description agents for tasks that name none; several share the work; empty: the first one installed
             */
            agent: string[];
            /**
             * Agentcommand
             * @description command to run as the agent, such as 'tool {task_file}'; {prompt_file}, {task_id}, {title}, {workspace} and {batch} are filled in, too
             */
            agentCommand: string | null;
            /**
             * Agentlimits
             * @description attempts at once of each agent; 0: no limit
             */
            agentLimits: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /**
             * Agentshell
             * @description have a shell run that command: pipes and redirections work
             */
            agentShell: boolean;
            /**
             * Args
             * @description extra arguments for each agent
             */
            args: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /**
             * Base
             * @description commit that worktrees start from; empty: the one checked out
             */
            base: string | null;
            /**
             * Baseurl
             * @description server: Ollama or any OpenAI-compatible one, including its /v1
             */
            baseUrl: string;
            /**
             * Budget
             * @description start nothing that could take the batch over this: 20usd, 500ktok, or one of each
             */
            budget: string | null;
            /**
             * Conflictbehavior
             * @description on a merge conflict: leave the task out (skip), stop the batch (fail), or have an agent repair it
             * @enum {string}
             */
            conflictBehavior: "skip" | "fail" | "repair";
            /**
             * Contextlines
             * @description limit of the files in a job's context, in lines
             */
            contextLines: number;
            /**
             * Contexttokens
             * @description limit of the files in a prompt, in tokens (estimated); files beyond it are left out
             */
            contextTokens: number;
            /**
             * Copy
             * @description ignored files to copy from the checkout to each worktree, besides those in .worktreeinclude
             */
            copy: string[];
            /**
             * Diskcap
             * @description disk limit of this repository's worktrees; above it, no task starts in a new one
             */
            diskCap: number;
            /**
             * Executor
             * @description where attempts run: on this machine (local), or on the nodes of a Ray cluster (ray)
             * @enum {string}
             */
            executor: "local" | "ray";
            /**
             * Fallback
             * @description agents that take over while the provider of a task's agent refuses; empty: its tasks wait
             */
            fallback: string[];
            /**
             * Fixes
             * @description repair rounds after a failed check
             */
            fixes: number;
            /**
             * Forge
             * @description forge of the remote's host; auto: detected from its name
             * @enum {string}
             */
            forge: "auto" | "github" | "gitlab" | "gitea";
            /**
             * Freememory
             * @description memory to keep free when starting tasks; empty: 1 GB or a twentieth, at most an eighth; 0: no limit by memory
             */
            freeMemory: number | null;
            /**
             * Gate
             * @description command that must pass on the merged result
             */
            gate: string | null;
            /**
             * Gatetimeout
             * @description time limit of gate
             */
            gateTimeout: number;
            /** Given */
            given: {
                [key: string]: components["schemas"]["SettingOrigin"];
            };
            /**
             * Hooks
             * @description run the repository's commit hooks when committing an attempt's result
             */
            hooks: boolean;
            /**
             * Idletimeout
             * @description time limit of an attempt that shows no activity: 30m
             */
            idleTimeout: number;
            /**
             * Isolation
             * @description a worktree for each task, or all in the checkout (in-place)
             * @enum {string}
             */
            isolation: "worktree" | "in-place";
            /**
             * Judge
             * @description agents that judge the results of a contest: each votes, and the majority decides
             */
            judge: string[];
            /**
             * Keep
             * @description worktrees to keep for later tasks
             */
            keep: number;
            /**
             * Keepawake
             * @description keep the machine from sleeping while a batch runs, where the system allows it
             */
            keepAwake: boolean;
            /**
             * Largestfile
             * @description largest file that a result may contain, since most hosts refuse larger ones; 0: any size
             */
            largestFile: number;
            /**
             * Link
             * @description files and folders of the checkout to link into each worktree
             */
            link: string[];
            /**
             * Location
             * @description folder for worktrees; empty: plait/worktrees in your cache folder
             */
            location: string | null;
            /**
             * Maxbatchsize
             * @description attempts at once in one batch; 0: no limit but the engine's; auto: 2 to 5, by plan and machine; on a cluster, all it has room for
             */
            maxBatchSize: number | "auto";
            /**
             * Maxload
             * @description load per core above which nothing new starts; 0: no limit
             */
            maxLoad: number;
            /**
             * Maxmemorystall
             * @description share of the time that work may stall for lack of memory, above which nothing new starts; 1: no limit
             */
            maxMemoryStall: number;
            /**
             * Mode
             * @description run tasks in parallel, or in a queue: one at a time, each after approval
             * @enum {string}
             */
            mode: "parallel" | "queue";
            /**
             * Model
             * @description model of all agents; one under [agents.models] comes first, unless this is set by a stronger layer
             */
            model: string | null;
            /**
             * Modelchecks
             * @description build, test and lint commands that must pass on the result, in this order
             */
            modelChecks: string[];
            /**
             * Modelkey
             * @description environment variable with the server's API key; empty: the server needs none
             */
            modelKey: string | null;
            /**
             * Modelname
             * @description model for jobs that name none; empty: that of [agents.models] or run.model
             */
            modelName: string | null;
            /**
             * Models
             * @description model of each agent, for tasks that name none
             */
            models: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** Notes */
            notes: components["schemas"]["ProblemDetails"][];
            /**
             * Notifybell
             * @description ring the terminal's bell when a batch that is watched there has ended or needs you
             */
            notifyBell: boolean;
            /**
             * Notifyon
             * @description events to notify about
             */
            notifyOn: ("finished" | "failed" | "cancelled" | "task_failed" | "needs_person" | "limit" | "unpublished")[];
            /**
             * Notifysecret
             * @description the secret itself, instead of that file: for the variable PLAIT_NOTIFY_SECRET
             */
            notifySecret: string | null;
            /**
             * Notifysecretfile
             * @description file with the secret that signs the webhook's messages, readable only by you (mode 600)
             */
            notifySecretFile: string | null;
            /**
             * Notifyurls
             * @description where to send notifications, as Apprise URLs (slack://…, mailto://…, ntfy://…)
             */
            notifyUrls: string[];
            /**
             * Notifywebhook
             * @description URL that gets each notification as signed JSON
             */
            notifyWebhook: string | null;
            /**
             * Order
             * @description order of ready tasks
             * @enum {string}
             */
            order: "critical-path" | "quick-first" | "fifo";
            /**
             * Outputlines
             * @description limit of a file written by a model, in lines
             */
            outputLines: number;
            /**
             * Parallellimit
             * @description attempts at once over all batches; 0: no limit; if not set: 4, or what an open batch asks for
             */
            parallelLimit: number;
            /**
             * Permissions
             * @description what each agent may do without asking: everything (full), change files only (edits), or what its own settings allow (own)
             */
            permissions: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /**
             * Phasegate
             * @description share of the earlier phases that must be done before a phase starts
             */
            phaseGate: number;
            /**
             * Preflight
             * @description before the first agent starts, check that programs are installed, and that setup, verify and gate pass on the base
             */
            preflight: boolean;
            /**
             * Prices
             * @description prices of models, by name pattern, for agents that report only tokens
             */
            prices: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /**
             * Programs
             * @description program to run for each agent, instead of its usual one
             */
            programs: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /**
             * Prompt
             * @description file with a prompt template to use instead of plait's own; {task}, {rules}, {feedback} … are filled in
             */
            prompt: string | null;
            /**
             * Promptby
             * @description how that command gets the prompt: on standard input, or from a file; auto: from a file if it names one
             * @enum {string}
             */
            promptBy: "auto" | "stdin" | "file";
            /**
             * Prompts
             * @description folder with system prompts (_systemprompt_create.md …) to use instead of plait's own; empty: those beside the jobs
             */
            prompts: string | null;
            /**
             * Queueautoapprove
             * @description in a queue, start the next task without approval
             */
            queueAutoApprove: boolean;
            /**
             * Rayaddress
             * @description the cluster: host:port of its head, or auto for RAY_ADDRESS or the cluster that this machine is part of
             */
            rayAddress: string;
            /**
             * Rayenv
             * @description environment variables that attempts get on nodes, besides those that their agents log in with: NPM_TOKEN, AWS_*
             */
            rayEnv: string[];
            /**
             * Rayfolder
             * @description where each node keeps its mirrors and worktrees; a relative path is in the home folder there
             */
            rayFolder: string;
            /**
             * Raylease
             * @description how long a node may be unreachable before its attempts are lost and run elsewhere
             */
            rayLease: number;
            /**
             * Regenerate
             * @description files to regenerate by a command if two tasks changed them, such as lock files
             */
            regenerate: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /**
             * Remote
             * @description remote to push batch branches to
             */
            remote: string;
            /**
             * Repairs
             * @description how often an agent may repair one task's conflicts, if on_conflict is repair
             */
            repairs: number;
            /**
             * Replies
             * @description agents that write no files themselves: plait applies their answers (FILE: path, and a fence)
             */
            replies: string[];
            /**
             * Retries
             * @description how often to retry a failed task
             */
            retries: number;
            /**
             * Sandbox
             * @description what confines agents: their worktree only (worktree), with listed hosts only (strict), a container, nothing (off); auto: the strongest that works here
             * @enum {string}
             */
            sandbox: "off" | "auto" | "worktree" | "strict" | "container";
            /**
             * Sandboxchecks
             * @description run setup, verify and gate in the sandbox, too; they run what agents wrote
             */
            sandboxChecks: boolean;
            /**
             * Sandboxdisk
             * @description size of /tmp, and of any one file, of a strict attempt; all that it writes may take four times that
             */
            sandboxDisk: number;
            /**
             * Sandboxhosts
             * @description hosts that a strict sandbox reaches besides the agent's provider and package registries: example.org, *.example.org, 127.0.0.1:8080
             */
            sandboxHosts: string[];
            /**
             * Sandboximage
             * @description image of a container sandbox, with git, the agent and what its checks need
             */
            sandboxImage: string | null;
            /**
             * Sandboxmemory
             * @description memory of a strict attempt: of all its processes where control groups can be made, else of each
             */
            sandboxMemory: number;
            /**
             * Sandboxprocesses
             * @description processes of a strict attempt; 0: no limit
             */
            sandboxProcesses: number;
            /**
             * Sandboxreadable
             * @description files and folders that a sandboxed attempt may read, such as ~/.m2 or a linked folder of the checkout
             */
            sandboxReadable: string[];
            /**
             * Sandboxvariables
             * @description variables with secrets that a sandboxed attempt gets, besides its agent's own key, such as NPM_TOKEN
             */
            sandboxVariables: string[];
            /**
             * Sandboxwritable
             * @description files and folders that a sandboxed attempt may change, such as ~/.cache/uv
             */
            sandboxWritable: string[];
            /**
             * Sandboxes
             * @description what confines each agent, where it differs from run.sandbox
             */
            sandboxes: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /**
             * Score
             * @description command that prints a number for each result of a contest: the highest wins
             */
            score: string | null;
            /**
             * Setup
             * @description command to run once in a new worktree, before the agent
             */
            setup: string | null;
            /**
             * Setupmakes
             * @description what setup creates, such as node_modules or .venv; kept for the next worktree
             */
            setupMakes: string[];
            /**
             * Setupreads
             * @description files that the result of setup depends on; it is reused until they change
             */
            setupReads: string[];
            /**
             * Sourcesexclude
             * @description files to read no tasks from
             */
            sourcesExclude: string[];
            /**
             * Sourcesfileconflicts
             * @description which files keep two tasks from running at once: declared ones and those their texts name, declared ones, or none
             * @enum {string}
             */
            sourcesFileConflicts: "inferred" | "declared" | "off";
            /**
             * Sourcesformat
             * @description format of the sources; empty: detected by name and content
             */
            sourcesFormat: string | null;
            /**
             * Sourcespaths
             * @description files, folders and globs to read tasks from; empty: those found
             */
            sourcesPaths: string[];
            /**
             * Sourcestag
             * @description tag whose tasks are read, in formats that have tags
             */
            sourcesTag: string;
            /**
             * Sourcesunknownneeds
             * @description how to treat unknown dependencies: as done, or fail the plan
             * @enum {string}
             */
            sourcesUnknownNeeds: "done" | "fail";
            /**
             * Sourceswriteback
             * @description where to write statuses: the checkout, the batch branch, both or neither
             * @enum {string}
             */
            sourcesWriteBack: "checkout" | "branch" | "both" | "off";
            /**
             * Sparse
             * @description folders to check out in worktrees; empty: all
             */
            sparse: string[];
            /**
             * Stalltimeout
             * @description how long the server may send nothing; loading a model counts
             */
            stallTimeout: number;
            /**
             * Startollama
             * @description start Ollama if it is installed and not running
             */
            startOllama: boolean;
            /**
             * Stoponfailure
             * @description start no more tasks once one has failed
             */
            stopOnFailure: boolean;
            /**
             * Target
             * @description target branch of pull requests; empty: the remote's default branch
             */
            target: string | null;
            /**
             * Taskbudget
             * @description ask before starting what could take one task over this: 2usd, 100ktok, or one of each
             */
            taskBudget: string | null;
            /**
             * Temperature
             * @description sampling temperature; empty: the server's default
             */
            temperature: number | null;
            /**
             * Timeout
             * @description time limit of an attempt: 60m
             */
            timeout: number;
            /**
             * Title
             * @description title of the pull request; empty: made from its tasks
             */
            title: string | null;
            /**
             * Traces
             * @description OTLP/HTTP endpoint for traces of the engine; empty: that of OTEL_EXPORTER_OTLP_ENDPOINT
             */
            traces: string | null;
            /**
             * Transcriptcap
             * @description how much of an attempt's output to keep: of a longer transcript, the beginning and the end
             */
            transcriptCap: number;
            /**
             * Union
             * @description files of which a merge keeps the lines of both sides, such as CHANGELOG.md
             */
            union: string[];
            /**
             * Verify
             * @description command that must pass in a task's workspace before the task is done
             */
            verify: string | null;
            /**
             * Verifymodel
             * @description model for that review; empty: the one that wrote the result
             */
            verifyModel: string | null;
            /**
             * Verifyreplies
             * @description review the result with a second prompt, unless a job says otherwise
             */
            verifyReplies: boolean;
            /**
             * Verifytimeout
             * @description time limit of verify
             */
            verifyTimeout: number;
            /**
             * Whendone
             * @description what to do with a finished batch branch: ask on a terminal (elsewhere nothing), nothing (off), push it, or push it and open a pull request (draft: as a draft)
             * @enum {string}
             */
            whenDone: "ask" | "off" | "push" | "pr" | "draft";
        };
        /**
         * ClusterNode
         * @description A machine that attempts run on. `problem`: why no attempt is started there now; null if there is no reason.
         */
        ClusterNode: {
            /** Address */
            address: string;
            /** Alive */
            alive: boolean;
            /** Freememory */
            freeMemory: number | null;
            /** Memory */
            memory: number | null;
            /** Name */
            name: string;
            /** Problem */
            problem: string | null;
            /** Slots */
            slots: number;
            /** Used */
            used: number;
        };
        /**
         * ConflictFile
         * @description A file in conflict. `ours` is the batch branch's, `theirs` the task's, `merged` has both between markers. Null:
         *     it doesn't exist on that side, or it is `binary`, or its name is in `cut`, since it is too long. `touchedBy` are the
         *     tasks whose change of it is on the branch, the newest first; `said` is git's message about it. `sides`: either side
         *     can be taken; `editable`: `merged` can be edited and sent back.
         */
        ConflictFile: {
            /** Base */
            base: string | null;
            /** Binary */
            binary: boolean;
            /** Cut */
            cut: ("base" | "ours" | "theirs" | "merged")[];
            /** Editable */
            editable: boolean;
            kind: components["schemas"]["ConflictKind"];
            /** Merged */
            merged: string | null;
            /** Ours */
            ours: string | null;
            /** Path */
            path: string;
            /** Said */
            said: string;
            /** Sides */
            sides: boolean;
            /** Theirs */
            theirs: string | null;
            /** Touchedby */
            touchedBy: string[];
        };
        /**
         * ConflictKind
         * @description What the two sides did to a file.
         * @enum {string}
         */
        ConflictKind: "content" | "add/add" | "modify/delete" | "rename" | "binary" | "file/directory" | "mode" | "submodule" | "other";
        /**
         * ConflictResolution
         * @description The `resolution`th conflict that a person resolved: what happened to each file, and the change's size.
         */
        ConflictResolution: {
            diffstat: components["schemas"]["Diffstat"] | null;
            /** Files */
            files: components["schemas"]["ResolvedConflictFile"][];
            /** Resolution */
            resolution: number;
        };
        /**
         * ConflictSummary
         * @description A conflict. `with` is the commit of the batch branch that the change was merged onto.
         */
        ConflictSummary: {
            /** Files */
            files: string[];
            /** With */
            with: string;
        };
        /**
         * ContestResult
         * @description The result of a contest. `result` and `summary` say how the votes decided, for programs and for people; null: no
         *     judge was asked, or none has answered.
         */
        ContestResult: {
            /** Entrants */
            entrants: components["schemas"]["Entrant"][];
            result: components["schemas"]["BallotResult"] | null;
            /** Summary */
            summary: string | null;
            /** Votes */
            votes: components["schemas"]["JudgeVote"][];
            /** Why */
            why: string | null;
        };
        /**
         * ContestSpec
         * @description Run each task `times` times per agent and merge the best result. `agents` omitted: those of the settings.
         */
        ContestSpec: {
            /** Agents */
            agents?: string[] | null;
            /**
             * Times
             * @default 1
             */
            times?: number;
        };
        /**
         * Conversation
         * @description The entries of a conversation. `failure` is the place of the attempt or gate for which the task failed.
         */
        Conversation: {
            /** Batchid */
            batchId: string;
            /** Entries */
            entries: components["schemas"]["ConversationEntry"][];
            /** Failure */
            failure: number | null;
            /** Taskid */
            taskId: string;
        };
        /**
         * ConversationEntry
         * @description What happened at `at`. `attempt` is set for `attempt`, `gate` for `gate`, `feedback` for `feedback`, `resolution`
         *     for `resolve`, `url` for `publish`; `status` is the end status for `ended`, and the one before for `retry`. `result`
         *     is that of a merge or of publishing, `commit` what a merge, a rebuild or a person made, `without` the tasks that a
         *     rebuild left out. `files` are in conflict. `output` is the end of what a failed attempt or gate printed.
         */
        ConversationEntry: {
            /** At */
            at: string;
            attempt: components["schemas"]["AttemptSummary"] | null;
            /** Commit */
            commit: string | null;
            /** Completedat */
            completedAt: string | null;
            feedback: components["schemas"]["ToldFeedback"] | null;
            /** Files */
            files: string[];
            gate: components["schemas"]["GateResult"] | null;
            kind: components["schemas"]["EntryKind"];
            /** Output */
            output: string | null;
            resolution: components["schemas"]["ConflictResolution"] | null;
            /** Result */
            result: string | null;
            status: components["schemas"]["TaskStatus"] | null;
            /** Text */
            text: string;
            /** Url */
            url: string | null;
            /** Without */
            without: string[];
        };
        /** Cost */
        Cost: {
            /** Tokens */
            tokens: number;
            /** Usd */
            usd: number;
        };
        /**
         * CreatedBatch
         * @description A new batch. `problems` are warnings. `accepted`: durable, but no engine has answered yet.
         */
        CreatedBatch: {
            /** Accepted */
            accepted: boolean;
            /** Branch */
            branch: string | null;
            /** Createdat */
            createdAt: string;
            /** Id */
            id: string;
            mode: components["schemas"]["Mode"];
            /** Problems */
            problems: components["schemas"]["ProblemDetails"][];
            status: components["schemas"]["BatchStatus"];
            /** Tasks */
            tasks: components["schemas"]["CreatedTask"][];
        };
        /** CreatedTask */
        CreatedTask: {
            /** Branch */
            branch: string | null;
            status: components["schemas"]["TaskStatus"];
            /** Taskid */
            taskId: string;
            /** Title */
            title: string;
        };
        /**
         * Dependency
         * @description A dependency of a task; `at` is where it is declared: `file:line`.
         */
        Dependency: {
            /** At */
            at: string | null;
            /** Id */
            id: string;
            kind: components["schemas"]["NeedKind"];
            /** Reason */
            reason: string;
        };
        /**
         * DependencyStatus
         * @description A dependency and its status; null: it is not in this batch.
         */
        DependencyStatus: {
            /** At */
            at: string | null;
            /** Id */
            id: string;
            kind: components["schemas"]["NeedKind"];
            /** Reason */
            reason: string;
            status: components["schemas"]["TaskStatus"] | null;
        };
        /**
         * DiffFormat
         * @enum {string}
         */
        DiffFormat: "text" | "json";
        /**
         * DiffSide
         * @enum {string}
         */
        DiffSide: "old" | "new";
        /** Diffstat */
        Diffstat: {
            /** Added */
            added: number;
            /** Files */
            files: number;
            /** Removed */
            removed: number;
        };
        /**
         * Edge
         * @description A dependency: `from` is done before `to` starts.
         */
        Edge: {
            /** At */
            at: string | null;
            /** From */
            from: string;
            kind: components["schemas"]["NeedKind"];
            /** Reason */
            reason: string;
            /** To */
            to: string;
        };
        /**
         * EndWhy
         * @description Why plait itself asks a running attempt to end.
         * @enum {string}
         */
        EndWhy: "cancel" | "drop" | "blocked" | "stop" | "timeout" | "idle" | "feedback";
        /**
         * EngineStatus
         * @description The running engine. `trouble`: what keeps it from working, such as a full disk; null if nothing does. `nodes`: of
         *     the cluster that it uses.
         */
        EngineStatus: {
            /** Nodes */
            nodes?: components["schemas"]["ClusterNode"][];
            /** Pid */
            pid: number;
            /** Since */
            since: string;
            /** Trouble */
            trouble?: string | null;
        };
        /** Entrant */
        Entrant: {
            /** Agent */
            agent: string;
            /** Branch */
            branch: string | null;
            cost: components["schemas"]["Cost"];
            diffstat: components["schemas"]["Diffstat"] | null;
            /** Entrant */
            entrant: string;
            /** Rank */
            rank: number | null;
            /** Score */
            score: number | null;
            /** Seconds */
            seconds: number | null;
            status: components["schemas"]["TaskStatus"] | null;
            /** Verdict */
            verdict: string;
        };
        /**
         * EntryKind
         * @description The kind of an entry. `retry` is a person's request, `retried` plait's own retry. `feedback` waits for the next
         *     attempt. `rebuild` made its commit again.
         * @enum {string}
         */
        EntryKind: "attempt" | "gate" | "merge" | "rebuild" | "publish" | "feedback" | "question" | "approve" | "retry" | "recheck" | "resolve" | "cancel" | "drop" | "retried" | "interrupted" | "conflict" | "ended";
        /**
         * Error
         * @description An error. `field`: the invalid field of the request; `state`: the state that prevents it.
         */
        Error: {
            /** Error */
            error: string;
            /**
             * Field
             * @description The invalid field of the body or the query, such as `settings.budget`
             */
            field: string | null;
            /** Hint */
            hint: string | null;
            /** Problems */
            problems: components["schemas"]["FieldProblem"][] | null;
            /**
             * State
             * @description The state that prevents it
             */
            state: string | null;
        };
        /**
         * Event
         * @description The first six fields are always present, the others by `type` as in docs/events.md; more may be added.
         */
        Event: {
            /** Agent */
            agent?: string | null;
            /** At */
            at: string;
            /** Attempt */
            attempt: number | null;
            /** Batchid */
            batchId: string | null;
            /** By */
            by?: string | null;
            category?: components["schemas"]["Category"] | null;
            cause?: components["schemas"]["PauseCause"] | null;
            /** Commit */
            commit?: string | null;
            /** Conflictswith */
            conflictsWith?: string | null;
            /** Counted */
            counted?: boolean | null;
            /** Entrantof */
            entrantOf?: string | null;
            entry?: components["schemas"]["LogEntry"] | null;
            /** Error */
            error?: string | null;
            /** Files */
            files?: string[] | null;
            /** Hint */
            hint?: string | null;
            /** Offset */
            offset?: number | null;
            on?: components["schemas"]["WaitReason"] | null;
            /** Percentage */
            percentage?: number | null;
            /** Phase */
            phase?: string | null;
            /** Prurl */
            prUrl?: string | null;
            progress?: components["schemas"]["Progress"] | null;
            /** Provider */
            provider?: string | null;
            /** Publishing */
            publishing?: ("started" | "waiting" | "done" | "failed") | null;
            /** Question */
            question?: string | null;
            /** Reason */
            reason?: string | null;
            /** Retryat */
            retryAt?: string | null;
            /** Seq */
            seq: number | null;
            status?: components["schemas"]["BatchStatus"] | null;
            step?: components["schemas"]["Step"] | null;
            /** Taskid */
            taskId: string | null;
            /** Title */
            title?: string | null;
            type: components["schemas"]["EventType"];
            /** Until */
            until?: string | null;
            /** Unwritten */
            unwritten?: string | null;
            /** Why */
            why?: string | null;
        } & {
            [key: string]: unknown;
        };
        /**
         * EventType
         * @description All types of events. The values are public.
         * @enum {string}
         */
        EventType: "batch:created" | "batch:started" | "batch:progress" | "batch:paused" | "batch:unpaused" | "batch:merging" | "batch:gating" | "batch:completed" | "batch:failed" | "batch:cancelled" | "batch:jobs" | "batch:contest" | "batch:task:queued" | "batch:task:waiting" | "batch:task:started" | "batch:task:phase" | "batch:task:needs_input" | "batch:task:verifying" | "batch:task:verified" | "batch:task:merged" | "batch:task:conflicted" | "batch:task:completed" | "batch:task:failed" | "batch:task:timed_out" | "batch:task:blocked" | "batch:task:skipped" | "batch:task:cancelled" | "batch:task:interrupted" | "batch:task:retry" | "limit:opened" | "limit:closed" | "engine:taken" | "engine:released" | "execution:log";
        /**
         * ExecutorKind
         * @description Where attempts run: on this machine, or on the nodes of a Ray cluster.
         * @enum {string}
         */
        ExecutorKind: "local" | "ray";
        /**
         * Explanation
         * @description Why a task has its status. `way`: what would make it continue, as a sentence.
         */
        Explanation: {
            /** Attempts */
            attempts: components["schemas"]["AttemptSummary"][];
            /** Batchid */
            batchId: string;
            conflict: components["schemas"]["ConflictSummary"] | null;
            contest: components["schemas"]["ContestResult"] | null;
            /** Needs */
            needs: components["schemas"]["DependencyStatus"][];
            /** Reason */
            reason: string;
            result: components["schemas"]["TaskResult"] | null;
            /** Source */
            source: string | null;
            status: components["schemas"]["TaskStatus"];
            /** Taskid */
            taskId: string;
            /** Title */
            title: string;
            waiting: components["schemas"]["WaitReason"] | null;
            /** Way */
            way: string;
        };
        /** FeedbackBody */
        FeedbackBody: {
            /** Text */
            text: string;
        };
        /**
         * FeedbackSource
         * @description The source of feedback. `answer`: a person's, to the agent's question. `review`: comments on its diff. `plait`:
         *     what plait itself says.
         * @enum {string}
         */
        FeedbackSource: "person" | "answer" | "review" | "check" | "conflict" | "plait";
        /**
         * FieldProblem
         * @description A problem with a field. `field` null: it is not about a single field.
         */
        FieldProblem: {
            /** Field */
            field: string | null;
            /** File */
            file: string | null;
            /** Hint */
            hint: string | null;
            /** Line */
            line: number | null;
            /** Message */
            message: string;
            severity: components["schemas"]["Severity"];
        };
        /**
         * FileChoice
         * @description How a person resolved a file in conflict: with the batch branch's version, the task's, or their own text.
         * @enum {string}
         */
        FileChoice: "batch" | "task" | "edited";
        /**
         * FileFormat
         * @enum {string}
         */
        FileFormat: "text" | "image";
        /**
         * FileResolution
         * @description How to resolve a file: by either a `side` or a `text`.
         */
        FileResolution: {
            /** Path */
            path: string;
            /**
             * Side
             * @description The version to take
             */
            side?: ("batch" | "task") | null;
            /**
             * Text
             * @description The whole file as it should be
             */
            text?: string | null;
        };
        /**
         * FullDiff
         * @description A diff with its text. `cut`: it is longer; format=text has all of it. `tip` null: files that are being written.
         */
        FullDiff: {
            /** Attempt */
            attempt: number | null;
            /** Base */
            base: string;
            /** Batchid */
            batchId: string;
            /** Cut */
            cut: boolean;
            /** Diff */
            diff: string;
            /** Files */
            files: components["schemas"]["ChangedFile"][];
            /** Minus */
            minus: number;
            /** Plus */
            plus: number;
            /** Resolution */
            resolution: number | null;
            /** Since */
            since: number | null;
            /** Taskid */
            taskId: string | null;
            /** Tip */
            tip: string | null;
        };
        /**
         * GateResult
         * @description A run of the gate. `passed` null: it is running, or its result is unknown.
         */
        GateResult: {
            /** Commit */
            commit: string;
            /** Gate */
            gate: number;
            /** Passed */
            passed: boolean | null;
        };
        /** Graph */
        Graph: {
            /** Batchid */
            batchId: string;
            /** Conflicts */
            conflicts: components["schemas"]["SharedFile"][];
            /** Criticalpath */
            criticalPath: string[];
            /** Edges */
            edges: components["schemas"]["Edge"][];
            /** Nodes */
            nodes: components["schemas"]["Node"][];
            /** Phases */
            phases: components["schemas"]["GraphPhase"][];
            /** Waves */
            waves: string[][];
        };
        /**
         * GraphPhase
         * @description A phase in the graph; `key` is the `phase` of its tasks.
         */
        GraphPhase: {
            /** Key */
            key: string;
            /** Title */
            title: string;
        };
        /** Health */
        Health: {
            /**
             * Status
             * @constant
             */
            status: "ok";
            /** Version */
            version: string;
        };
        /**
         * InstalledAgent
         * @description An agent on this machine. `path` and `version` are its program's, if it has one; `problem`: why the version is
         *     unknown. `default`: it works on tasks that name no agent.
         */
        InstalledAgent: {
            /** Account */
            account: string | null;
            /** Available */
            available: boolean;
            /** Default */
            default: boolean;
            /** Description */
            description: string;
            /** Install */
            install: string | null;
            login: components["schemas"]["LoginStatus"];
            /** Model */
            model: string | null;
            /** Name */
            name: string;
            /** Path */
            path: string | null;
            permission: components["schemas"]["Permission"];
            /** Problem */
            problem: string | null;
            /** Tested */
            tested: boolean;
            /** Version */
            version: string | null;
        };
        /**
         * Isolation
         * @enum {string}
         */
        Isolation: "worktree" | "in-place";
        JsonValue: unknown;
        /**
         * JudgeVote
         * @description A judge's vote. `ranking`: entrants, the best first. `failure`: why this judge has no vote; null: it has one.
         */
        JudgeVote: {
            /** Failure */
            failure: string | null;
            /** Judge */
            judge: string;
            /** Ranking */
            ranking: string[];
            /** Reason */
            reason: string;
            /** Rejected */
            rejected: string[];
        };
        /**
         * Layer
         * @description The sources of values, weakest first; the names are shown by `plait config --json`.
         * @enum {string}
         */
        Layer: "default" | "user" | "repository" | "saved" | "environment" | "flag";
        /**
         * ListedBatch
         * @description An item of a list; without `tasks` if `?tasks=false`.
         */
        ListedBatch: {
            /** Agentseconds */
            agentSeconds: number;
            /** Base */
            base: string | null;
            /** Branch */
            branch: string | null;
            /** Completedat */
            completedAt: string | null;
            cost: components["schemas"]["Cost"];
            /** Createdat */
            createdAt: string;
            /** Eta */
            eta: string | null;
            /** Etabasis */
            etaBasis: string | null;
            /** Hint */
            hint: string | null;
            /** Id */
            id: string;
            mode: components["schemas"]["Mode"];
            /** Name */
            name: string;
            pauseCause: components["schemas"]["PauseCause"] | null;
            /** Prurl */
            prUrl: string | null;
            progress: components["schemas"]["Progress"];
            /** Projectid */
            projectId: string | null;
            /** Reason */
            reason: string;
            /** Seconds */
            seconds: number;
            settings: components["schemas"]["BatchSettings"];
            /** Shipped */
            shipped: string | null;
            /** Startedat */
            startedAt: string | null;
            status: components["schemas"]["BatchStatus"];
            /** Tasks */
            tasks?: components["schemas"]["BatchTask"][] | null;
            /** Unshipped */
            unshipped: string | null;
            /** Unwritten */
            unwritten: components["schemas"]["UnwrittenSource"][];
            /** Workingsince */
            workingSince: string | null;
        };
        /**
         * LogEntry
         * @description A line of agent output (`text`), or how much was left out (`bytes`).
         */
        LogEntry: {
            /** Bytes */
            bytes?: number | null;
            /**
             * Kind
             * @enum {string}
             */
            kind: "activity" | "skipped";
            /** Text */
            text?: string | null;
        };
        /**
         * LogFormat
         * @enum {string}
         */
        LogFormat: "text" | "events";
        /**
         * LoggedIn
         * @enum {string}
         */
        LoggedIn: "yes" | "no" | "unknown";
        /**
         * LoginStatus
         * @description Whether a tool is logged in. `by` is the name of a variable or file, never its content; `how` is how to log in.
         */
        LoginStatus: {
            /** By */
            by: string | null;
            /** How */
            how: string | null;
            loggedIn: components["schemas"]["LoggedIn"];
        };
        /**
         * MergedChange
         * @description The change of a merged task. `withoutTests`: it changes source files and no tests, though the repository or
         *     another task has some. `undeclared` are files besides tests that it changes but didn't declare, if it declares any;
         *     `more`: how many names are left out.
         */
        MergedChange: {
            /** Files */
            files: number;
            /** More */
            more: number;
            /** Taskid */
            taskId: string;
            /** Undeclared */
            undeclared: string[];
            /** Withouttests */
            withoutTests: boolean;
        };
        /**
         * MergedChanges
         * @description The changes of a batch's merged tasks. `files`: the number of different files that they change.
         */
        MergedChanges: {
            /** Batchid */
            batchId: string;
            /** Files */
            files: number;
            /** Tasks */
            tasks: components["schemas"]["MergedChange"][];
        };
        /**
         * Mode
         * @enum {string}
         */
        Mode: "parallel" | "queue";
        /**
         * NeedKind
         * @description Why a task needs another. An entrant need is met when the entrant has ended, successfully or not.
         * @enum {string}
         */
        NeedKind: "need" | "chain" | "entrant";
        /**
         * NewBatchSpec
         * @description A batch to create. `taskIds` are ids, or names as the source spells them (`task-1`), in the order of the queue.
         *     `withNeeds`: also their dependencies, `ignoreNeeds`: without them.
         */
        NewBatchSpec: {
            /**
             * Again
             * @description Whether to run what an earlier batch completed with the same text; omitted: only if `taskIds` names it
             */
            again?: boolean | null;
            contest?: components["schemas"]["ContestSpec"] | null;
            /**
             * Ignoreneeds
             * @default false
             */
            ignoreNeeds?: boolean;
            mode?: components["schemas"]["Mode"] | null;
            /** Settings */
            settings?: {
                [key: string]: components["schemas"]["JsonValue"];
            } | null;
            /** Taskids */
            taskIds: string[];
            /**
             * Withneeds
             * @default false
             */
            withNeeds?: boolean;
        };
        /** NewTask */
        NewTask: {
            /** Agent */
            agent?: string | null;
            /** Body */
            body?: string | null;
            /** Model */
            model?: string | null;
            /** Needs */
            needs?: string[] | null;
            /** Phase */
            phase?: string | null;
            /** Priority */
            priority?: string | number | null;
            /** Run */
            run?: string | null;
            /** Title */
            title: string;
            /** Touches */
            touches?: string[] | null;
            /** Verify */
            verify?: string | null;
            /** Weight */
            weight?: string | number | null;
        };
        /**
         * Node
         * @description A task in the graph. `rank`: seconds of the longest path from its start to the end. `short`: as that of a run.
         */
        Node: {
            /** Entrantof */
            entrantOf: string | null;
            /** Phase */
            phase: string | null;
            /** Rank */
            rank: number;
            /** Reason */
            reason: string;
            /** Short */
            short: string;
            status: components["schemas"]["TaskStatus"];
            /** Taskid */
            taskId: string;
            /** Title */
            title: string;
            /** Touches */
            touches: string[];
            waiting: components["schemas"]["WaitReason"] | null;
            /** Wave */
            wave: number;
            /** Weight */
            weight: number;
        };
        /**
         * OnConflict
         * @enum {string}
         */
        OnConflict: "skip" | "fail" | "repair";
        /**
         * Order
         * @enum {string}
         */
        Order: "critical-path" | "quick-first" | "fifo";
        /**
         * Outcome
         * @description The outcome of a request. `accepted`: durable, but no engine has answered yet.
         * @enum {string}
         */
        Outcome: "granted" | "refused" | "accepted";
        /**
         * PauseCause
         * @enum {string}
         */
        PauseCause: "person" | "stop" | "budget" | "gate" | "branch" | "provider";
        /**
         * Permission
         * @description What a tool may do without asking: everything, change files only, or what its own settings say.
         * @enum {string}
         */
        Permission: "full" | "edits" | "own";
        /**
         * PlanDetails
         * @description The plan as `plan --json` prints it. Without a plan there are no tasks, and the problems say why; with one and an
         *     error, it can't be started now. `eta` (in seconds, with its `etaBasis`) and `cost` are present if history allows an
         *     estimate. `permissions` names the agents that do everything without asking, `sandbox` is what confines them.
         */
        PlanDetails: {
            /** Conflicts */
            conflicts: components["schemas"]["SharedFile"][];
            cost: components["schemas"]["Cost"] | null;
            /** Criticalpath */
            criticalPath: string[];
            /** Eta */
            eta: number | null;
            /** Etabasis */
            etaBasis: string | null;
            /** Permissions */
            permissions: string | null;
            /** Phases */
            phases: components["schemas"]["PlanPhase"][];
            /** Problems */
            problems: components["schemas"]["ProblemDetails"][];
            sandbox: components["schemas"]["SandboxMode"];
            /** Tasks */
            tasks: components["schemas"]["PlanTask"][];
            /** Waves */
            waves: string[][];
        };
        /** PlanPhase */
        PlanPhase: {
            /** After */
            after: string[];
            /** Gate */
            gate: number | null;
            /** Id */
            id: string;
            /** Openswith */
            opensWith: string | null;
            /** Settled */
            settled: number;
            /** Title */
            title: string;
            /** Total */
            total: number;
        };
        /** PlanTask */
        PlanTask: {
            /** Agent */
            agent: string | null;
            /** Entrantof */
            entrantOf: string | null;
            /** Id */
            id: string;
            /** Needs */
            needs: components["schemas"]["Dependency"][];
            /** Phase */
            phase: string | null;
            /** Source */
            source: string | null;
            status: components["schemas"]["SourceStatus"];
            /** Title */
            title: string;
            /** Touches */
            touches: string[];
            /** Wave */
            wave: number;
            /** Weight */
            weight: number;
        };
        /**
         * PredictedConflict
         * @description A predicted conflict; `taskId` null: with the batch branch.
         */
        PredictedConflict: {
            /** Files */
            files: string[];
            /** Taskid */
            taskId: string | null;
        };
        /**
         * Preferences
         * @description Every setting by its name, and under `given` where it comes from. Durations in seconds, sizes in bytes.
         */
        Preferences: {
            /**
             * Accounts
             * @description account whose rate limits an agent shares; agents of one account wait together
             */
            accounts: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /**
             * Agent
             * @description agents for tasks that name none; several share the work; empty: the first one installed
             */
            agent: string[];
            /**
             * Agentcommand
             * @description command to run as the agent, such as 'tool {task_file}'; {prompt_file}, {task_id}, {title}, {workspace} and {batch} are filled in, too
             */
            agentCommand: string | null;
            /**
             * Agentlimits
             * @description attempts at once of each agent; 0: no limit
             */
            agentLimits: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /**
             * Agentshell
             * @description have a shell run that command: pipes and redirections work
             */
            agentShell: boolean;
            /**
             * Args
             * @description extra arguments for each agent
             */
            args: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /**
             * Base
             * @description commit that worktrees start from; empty: the one checked out
             */
            base: string | null;
            /**
             * Baseurl
             * @description server: Ollama or any OpenAI-compatible one, including its /v1
             */
            baseUrl: string;
            /**
             * Budget
             * @description start nothing that could take the batch over this: 20usd, 500ktok, or one of each
             */
            budget: string | null;
            /**
             * Conflictbehavior
             * @description on a merge conflict: leave the task out (skip), stop the batch (fail), or have an agent repair it
             * @enum {string}
             */
            conflictBehavior: "skip" | "fail" | "repair";
            /**
             * Contextlines
             * @description limit of the files in a job's context, in lines
             */
            contextLines: number;
            /**
             * Contexttokens
             * @description limit of the files in a prompt, in tokens (estimated); files beyond it are left out
             */
            contextTokens: number;
            /**
             * Copy
             * @description ignored files to copy from the checkout to each worktree, besides those in .worktreeinclude
             */
            copy: string[];
            /**
             * Diskcap
             * @description disk limit of this repository's worktrees; above it, no task starts in a new one
             */
            diskCap: number;
            /**
             * Executor
             * @description where attempts run: on this machine (local), or on the nodes of a Ray cluster (ray)
             * @enum {string}
             */
            executor: "local" | "ray";
            /**
             * Fallback
             * @description agents that take over while the provider of a task's agent refuses; empty: its tasks wait
             */
            fallback: string[];
            /**
             * Fixes
             * @description repair rounds after a failed check
             */
            fixes: number;
            /**
             * Forge
             * @description forge of the remote's host; auto: detected from its name
             * @enum {string}
             */
            forge: "auto" | "github" | "gitlab" | "gitea";
            /**
             * Freememory
             * @description memory to keep free when starting tasks; empty: 1 GB or a twentieth, at most an eighth; 0: no limit by memory
             */
            freeMemory: number | null;
            /**
             * Gate
             * @description command that must pass on the merged result
             */
            gate: string | null;
            /**
             * Gatetimeout
             * @description time limit of gate
             */
            gateTimeout: number;
            /** Given */
            given: {
                [key: string]: components["schemas"]["SettingOrigin"];
            };
            /**
             * Hooks
             * @description run the repository's commit hooks when committing an attempt's result
             */
            hooks: boolean;
            /**
             * Idletimeout
             * @description time limit of an attempt that shows no activity: 30m
             */
            idleTimeout: number;
            /**
             * Isolation
             * @description a worktree for each task, or all in the checkout (in-place)
             * @enum {string}
             */
            isolation: "worktree" | "in-place";
            /**
             * Judge
             * @description agents that judge the results of a contest: each votes, and the majority decides
             */
            judge: string[];
            /**
             * Keep
             * @description worktrees to keep for later tasks
             */
            keep: number;
            /**
             * Keepawake
             * @description keep the machine from sleeping while a batch runs, where the system allows it
             */
            keepAwake: boolean;
            /**
             * Largestfile
             * @description largest file that a result may contain, since most hosts refuse larger ones; 0: any size
             */
            largestFile: number;
            /**
             * Link
             * @description files and folders of the checkout to link into each worktree
             */
            link: string[];
            /**
             * Location
             * @description folder for worktrees; empty: plait/worktrees in your cache folder
             */
            location: string | null;
            /**
             * Maxbatchsize
             * @description attempts at once in one batch; 0: no limit but the engine's; auto: 2 to 5, by plan and machine; on a cluster, all it has room for
             */
            maxBatchSize: number | "auto";
            /**
             * Maxload
             * @description load per core above which nothing new starts; 0: no limit
             */
            maxLoad: number;
            /**
             * Maxmemorystall
             * @description share of the time that work may stall for lack of memory, above which nothing new starts; 1: no limit
             */
            maxMemoryStall: number;
            /**
             * Mode
             * @description run tasks in parallel, or in a queue: one at a time, each after approval
             * @enum {string}
             */
            mode: "parallel" | "queue";
            /**
             * Model
             * @description model of all agents; one under [agents.models] comes first, unless this is set by a stronger layer
             */
            model: string | null;
            /**
             * Modelchecks
             * @description build, test and lint commands that must pass on the result, in this order
             */
            modelChecks: string[];
            /**
             * Modelkey
             * @description environment variable with the server's API key; empty: the server needs none
             */
            modelKey: string | null;
            /**
             * Modelname
             * @description model for jobs that name none; empty: that of [agents.models] or run.model
             */
            modelName: string | null;
            /**
             * Models
             * @description model of each agent, for tasks that name none
             */
            models: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /**
             * Notifybell
             * @description ring the terminal's bell when a batch that is watched there has ended or needs you
             */
            notifyBell: boolean;
            /**
             * Notifyon
             * @description events to notify about
             */
            notifyOn: ("finished" | "failed" | "cancelled" | "task_failed" | "needs_person" | "limit" | "unpublished")[];
            /**
             * Notifysecret
             * @description the secret itself, instead of that file: for the variable PLAIT_NOTIFY_SECRET
             */
            notifySecret: string | null;
            /**
             * Notifysecretfile
             * @description file with the secret that signs the webhook's messages, readable only by you (mode 600)
             */
            notifySecretFile: string | null;
            /**
             * Notifyurls
             * @description where to send notifications, as Apprise URLs (slack://…, mailto://…, ntfy://…)
             */
            notifyUrls: string[];
            /**
             * Notifywebhook
             * @description URL that gets each notification as signed JSON
             */
            notifyWebhook: string | null;
            /**
             * Order
             * @description order of ready tasks
             * @enum {string}
             */
            order: "critical-path" | "quick-first" | "fifo";
            /**
             * Outputlines
             * @description limit of a file written by a model, in lines
             */
            outputLines: number;
            /**
             * Parallellimit
             * @description attempts at once over all batches; 0: no limit; if not set: 4, or what an open batch asks for
             */
            parallelLimit: number;
            /**
             * Permissions
             * @description what each agent may do without asking: everything (full), change files only (edits), or what its own settings allow (own)
             */
            permissions: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /**
             * Phasegate
             * @description share of the earlier phases that must be done before a phase starts
             */
            phaseGate: number;
            /**
             * Preflight
             * @description before the first agent starts, check that programs are installed, and that setup, verify and gate pass on the base
             */
            preflight: boolean;
            /**
             * Prices
             * @description prices of models, by name pattern, for agents that report only tokens
             */
            prices: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /**
             * Programs
             * @description program to run for each agent, instead of its usual one
             */
            programs: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /**
             * Prompt
             * @description file with a prompt template to use instead of plait's own; {task}, {rules}, {feedback} … are filled in
             */
            prompt: string | null;
            /**
             * Promptby
             * @description how that command gets the prompt: on standard input, or from a file; auto: from a file if it names one
             * @enum {string}
             */
            promptBy: "auto" | "stdin" | "file";
            /**
             * Prompts
             * @description folder with system prompts (_systemprompt_create.md …) to use instead of plait's own; empty: those beside the jobs
             */
            prompts: string | null;
            /**
             * Queueautoapprove
             * @description in a queue, start the next task without approval
             */
            queueAutoApprove: boolean;
            /**
             * Rayaddress
             * @description the cluster: host:port of its head, or auto for RAY_ADDRESS or the cluster that this machine is part of
             */
            rayAddress: string;
            /**
             * Rayenv
             * @description environment variables that attempts get on nodes, besides those that their agents log in with: NPM_TOKEN, AWS_*
             */
            rayEnv: string[];
            /**
             * Rayfolder
             * @description where each node keeps its mirrors and worktrees; a relative path is in the home folder there
             */
            rayFolder: string;
            /**
             * Raylease
             * @description how long a node may be unreachable before its attempts are lost and run elsewhere
             */
            rayLease: number;
            /**
             * Regenerate
             * @description files to regenerate by a command if two tasks changed them, such as lock files
             */
            regenerate: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /**
             * Remote
             * @description remote to push batch branches to
             */
            remote: string;
            /**
             * Repairs
             * @description how often an agent may repair one task's conflicts, if on_conflict is repair
             */
            repairs: number;
            /**
             * Replies
             * @description agents that write no files themselves: plait applies their answers (FILE: path, and a fence)
             */
            replies: string[];
            /**
             * Retries
             * @description how often to retry a failed task
             */
            retries: number;
            /**
             * Sandbox
             * @description what confines agents: their worktree only (worktree), with listed hosts only (strict), a container, nothing (off); auto: the strongest that works here
             * @enum {string}
             */
            sandbox: "off" | "auto" | "worktree" | "strict" | "container";
            /**
             * Sandboxchecks
             * @description run setup, verify and gate in the sandbox, too; they run what agents wrote
             */
            sandboxChecks: boolean;
            /**
             * Sandboxdisk
             * @description size of /tmp, and of any one file, of a strict attempt; all that it writes may take four times that
             */
            sandboxDisk: number;
            /**
             * Sandboxhosts
             * @description hosts that a strict sandbox reaches besides the agent's provider and package registries: example.org, *.example.org, 127.0.0.1:8080
             */
            sandboxHosts: string[];
            /**
             * Sandboximage
             * @description image of a container sandbox, with git, the agent and what its checks need
             */
            sandboxImage: string | null;
            /**
             * Sandboxmemory
             * @description memory of a strict attempt: of all its processes where control groups can be made, else of each
             */
            sandboxMemory: number;
            /**
             * Sandboxprocesses
             * @description processes of a strict attempt; 0: no limit
             */
            sandboxProcesses: number;
            /**
             * Sandboxreadable
             * @description files and folders that a sandboxed attempt may read, such as ~/.m2 or a linked folder of the checkout
             */
            sandboxReadable: string[];
            /**
             * Sandboxvariables
             * @description variables with secrets that a sandboxed attempt gets, besides its agent's own key, such as NPM_TOKEN
             */
            sandboxVariables: string[];
            /**
             * Sandboxwritable
             * @description files and folders that a sandboxed attempt may change, such as ~/.cache/uv
             */
            sandboxWritable: string[];
            /**
             * Sandboxes
             * @description what confines each agent, where it differs from run.sandbox
             */
            sandboxes: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /**
             * Score
             * @description command that prints a number for each result of a contest: the highest wins
             */
            score: string | null;
            /**
             * Setup
             * @description command to run once in a new worktree, before the agent
             */
            setup: string | null;
            /**
             * Setupmakes
             * @description what setup creates, such as node_modules or .venv; kept for the next worktree
             */
            setupMakes: string[];
            /**
             * Setupreads
             * @description files that the result of setup depends on; it is reused until they change
             */
            setupReads: string[];
            /**
             * Sourcesexclude
             * @description files to read no tasks from
             */
            sourcesExclude: string[];
            /**
             * Sourcesfileconflicts
             * @description which files keep two tasks from running at once: declared ones and those their texts name, declared ones, or none
             * @enum {string}
             */
            sourcesFileConflicts: "inferred" | "declared" | "off";
            /**
             * Sourcesformat
             * @description format of the sources; empty: detected by name and content
             */
            sourcesFormat: string | null;
            /**
             * Sourcespaths
             * @description files, folders and globs to read tasks from; empty: those found
             */
            sourcesPaths: string[];
            /**
             * Sourcestag
             * @description tag whose tasks are read, in formats that have tags
             */
            sourcesTag: string;
            /**
             * Sourcesunknownneeds
             * @description how to treat unknown dependencies: as done, or fail the plan
             * @enum {string}
             */
            sourcesUnknownNeeds: "done" | "fail";
            /**
             * Sourceswriteback
             * @description where to write statuses: the checkout, the batch branch, both or neither
             * @enum {string}
             */
            sourcesWriteBack: "checkout" | "branch" | "both" | "off";
            /**
             * Sparse
             * @description folders to check out in worktrees; empty: all
             */
            sparse: string[];
            /**
             * Stalltimeout
             * @description how long the server may send nothing; loading a model counts
             */
            stallTimeout: number;
            /**
             * Startollama
             * @description start Ollama if it is installed and not running
             */
            startOllama: boolean;
            /**
             * Stoponfailure
             * @description start no more tasks once one has failed
             */
            stopOnFailure: boolean;
            /**
             * Target
             * @description target branch of pull requests; empty: the remote's default branch
             */
            target: string | null;
            /**
             * Taskbudget
             * @description ask before starting what could take one task over this: 2usd, 100ktok, or one of each
             */
            taskBudget: string | null;
            /**
             * Temperature
             * @description sampling temperature; empty: the server's default
             */
            temperature: number | null;
            /**
             * Timeout
             * @description time limit of an attempt: 60m
             */
            timeout: number;
            /**
             * Title
             * @description title of the pull request; empty: made from its tasks
             */
            title: string | null;
            /**
             * Traces
             * @description OTLP/HTTP endpoint for traces of the engine; empty: that of OTEL_EXPORTER_OTLP_ENDPOINT
             */
            traces: string | null;
            /**
             * Transcriptcap
             * @description how much of an attempt's output to keep: of a longer transcript, the beginning and the end
             */
            transcriptCap: number;
            /**
             * Union
             * @description files of which a merge keeps the lines of both sides, such as CHANGELOG.md
             */
            union: string[];
            /**
             * Verify
             * @description command that must pass in a task's workspace before the task is done
             */
            verify: string | null;
            /**
             * Verifymodel
             * @description model for that review; empty: the one that wrote the result
             */
            verifyModel: string | null;
            /**
             * Verifyreplies
             * @description review the result with a second prompt, unless a job says otherwise
             */
            verifyReplies: boolean;
            /**
             * Verifytimeout
             * @description time limit of verify
             */
            verifyTimeout: number;
            /**
             * Whendone
             * @description what to do with a finished batch branch: ask on a terminal (elsewhere nothing), nothing (off), push it, or push it and open a pull request (draft: as a draft)
             * @enum {string}
             */
            whenDone: "ask" | "off" | "push" | "pr" | "draft";
        };
        /**
         * PreferencesPatch
         * @description Values by the names of GET /api/settings; null removes a saved value.
         */
        PreferencesPatch: {
            [key: string]: components["schemas"]["JsonValue"];
        };
        /**
         * ProblemDetails
         * @description A problem: what is wrong, where, and what to do.
         */
        ProblemDetails: {
            /** File */
            file: string | null;
            /** Hint */
            hint: string | null;
            /** Line */
            line: number | null;
            /** Message */
            message: string;
            severity: components["schemas"]["Severity"];
        };
        /**
         * Progress
         * @description How many tasks have each status; the counts sum to `total`.
         */
        Progress: {
            /** Blocked */
            blocked: number;
            /** Cancelled */
            cancelled: number;
            /** Completed */
            completed: number;
            /** Conflicted */
            conflicted: number;
            /** Failed */
            failed: number;
            /** Interrupted */
            interrupted: number;
            /** Percentage */
            percentage: number;
            /** Queued */
            queued: number;
            /** Running */
            running: number;
            /** Skipped */
            skipped: number;
            /** Timedout */
            timedOut: number;
            /** Total */
            total: number;
            /** Waiting */
            waiting: number;
        };
        /**
         * ProjectBody
         * @description A project to add: the absolute path of a checkout on the server's machine, or the URL of a repository.
         */
        ProjectBody: {
            /** Path */
            path?: string | null;
            /** Url */
            url?: string | null;
        };
        /**
         * ProjectDetails
         * @description A project. `url` null: a checkout on the server's machine. `default`: used if no project is named.
         */
        ProjectDetails: {
            /** Default */
            default: boolean;
            /** Id */
            id: string;
            /** Name */
            name: string;
            /** Path */
            path: string;
            /** Url */
            url: string | null;
        };
        /** Projects */
        Projects: {
            /** Projects */
            projects: components["schemas"]["ProjectDetails"][];
        };
        /**
         * ProviderLimit
         * @description A provider that open batches have to wait for. `rejected`: until a person logs in or pays.
         */
        ProviderLimit: {
            /** Provider */
            provider: string;
            /** Reason */
            reason: string;
            /** Rejected */
            rejected: boolean;
            /** Until */
            until: string;
        };
        /**
         * Publish
         * @description What happens to the batch branch at the end: nothing, a push, a pull request, or a draft pull request.
         * @enum {string}
         */
        Publish: "off" | "push" | "pr" | "draft";
        /**
         * PublishResults
         * @description The result of publishing. `underWay`: the batch has `prUrl` when it is done.
         */
        PublishResults: {
            /** Batchid */
            batchId: string;
            /** Branch */
            branch: string | null;
            /** Commit */
            commit: string | null;
            /** Prurl */
            prUrl: string | null;
            /** Results */
            results: components["schemas"]["ActionResult"][];
            /** Underway */
            underWay: boolean;
            /** Unshipped */
            unshipped: string | null;
        };
        /**
         * PullRequestPreview
         * @description The pull request of a batch. `title` and `body` are what would be sent now, `own` what plait would write by
         *     itself. `target` null: only the remote knows it. `shipped`: the branch is published as it is. `why` says why no pull
         *     request can be opened, as far as that is known without a network; with `canPush`, the branch can still be pushed.
         *     `hint` also says what git waits for while the branch is published.
         */
        PullRequestPreview: {
            /** Batchid */
            batchId: string;
            /** Body */
            body: string;
            /** Branch */
            branch: string | null;
            /** Canpublish */
            canPublish: boolean;
            /** Canpush */
            canPush: boolean;
            /** Hint */
            hint: string | null;
            own: components["schemas"]["PullRequestTexts"];
            /** Shipped */
            shipped: boolean;
            /** Target */
            target: string | null;
            /** Title */
            title: string;
            /** Underway */
            underWay: boolean;
            /** Url */
            url: string | null;
            /** Why */
            why: string | null;
        };
        /** PullRequestTexts */
        PullRequestTexts: {
            /** Body */
            body: string;
            /** Title */
            title: string;
        };
        /**
         * RecheckBody
         * @description Settings for the batch from now on; omitted: the current settings.
         */
        RecheckBody: {
            /**
             * Gate
             * @description Command that must pass on the merged result
             */
            gate?: string | null;
            /**
             * Setup
             * @description Command to run once in a new worktree
             */
            setup?: string | null;
            /**
             * Verify
             * @description Command that must pass in a workspace
             */
            verify?: string | null;
        };
        /**
         * ResolveBody
         * @description How to resolve a conflict. `with` and `tip` are those of the conflict that was looked at: if they have changed,
         *     the request is refused (409).
         */
        ResolveBody: {
            /** Files */
            files?: components["schemas"]["FileResolution"][];
            /**
             * Markers
             * @description Lines like conflict markers may be left in texts
             * @default false
             */
            markers?: boolean;
            /**
             * Rest
             * @description For all files that aren't named
             */
            rest?: ("batch" | "task") | null;
            /** Tip */
            tip: string;
            /** With */
            with: string;
        };
        /** ResolvedConflictFile */
        ResolvedConflictFile: {
            choice: components["schemas"]["FileChoice"];
            /** Path */
            path: string;
        };
        /**
         * RetryBody
         * @description Options of a retry. `agent` and `model` are for these tasks alone, the settings for the batch from now on;
         *     omitted: the current settings.
         */
        RetryBody: {
            /**
             * Agent
             * @description Use this agent. Omitted: the same as before
             */
            agent?: string | null;
            /**
             * Gate
             * @description Command that must pass on the merged result
             */
            gate?: string | null;
            /**
             * Model
             * @description Use this model. Omitted: the same as before
             */
            model?: string | null;
            /**
             * Preflight
             * @description false: start although new commands fail on the base, or their program is missing
             */
            preflight?: boolean | null;
            /**
             * Setup
             * @description Command to run once in a new worktree
             */
            setup?: string | null;
            /**
             * Timeout
             * @description Time limit of an attempt: 90m, or seconds
             */
            timeout?: string | number | null;
            /**
             * Verify
             * @description Command that must pass in a workspace
             */
            verify?: string | null;
        };
        /**
         * SandboxMode
         * @description What confines an attempt. AUTO occurs only as a setting: the strongest mode that works on the machine, or none.
         * @enum {string}
         */
        SandboxMode: "off" | "auto" | "worktree" | "strict" | "container";
        /**
         * ScheduledRetry
         * @description A retry. Only a counted one uses up one of the task's retries.
         */
        ScheduledRetry: {
            /** At */
            at: string;
            category: components["schemas"]["Category"];
            /** Counted */
            counted: boolean;
            /** Retryat */
            retryAt: string;
            /** Why */
            why: string;
        };
        /**
         * SettingDetails
         * @description The form field of a setting. `kind` suggests the kind of field; `allowed` describes the allowed values; `flag` is
         *     the option of `plait run`, if any.
         */
        SettingDetails: {
            /** About */
            about: string;
            /** Allowed */
            allowed: string;
            /** Canbesaved */
            canBeSaved: boolean;
            /** Choices */
            choices: string[];
            /** Default */
            default: unknown;
            /** Flag */
            flag: string | null;
            /** Key */
            key: string;
            kind: components["schemas"]["ValueKind"];
            /** Name */
            name: string;
            /** Table */
            table: string;
            /** Variable */
            variable: string;
        };
        /**
         * SettingOrigin
         * @description A setting's origin. `hidden`: a stronger layer overrides the saved value. `problem`: why that is invalid.
         */
        SettingOrigin: {
            /** At */
            at: string | null;
            /** Hidden */
            hidden: boolean;
            layer: components["schemas"]["Layer"];
            /** Problem */
            problem: string | null;
            /** Saved */
            saved: boolean;
        };
        /** SettingsForm */
        SettingsForm: {
            /** Settings */
            settings: components["schemas"]["SettingDetails"][];
            /** Tables */
            tables: {
                [key: string]: string;
            };
        };
        /**
         * Severity
         * @enum {string}
         */
        Severity: "error" | "warning" | "info";
        /**
         * SharedFile
         * @description A file that several tasks name, so that they run one after another.
         */
        SharedFile: {
            /** File */
            file: string;
            /** Tasks */
            tasks: string[];
        };
        /**
         * ShipBody
         * @description What to publish: a pull request, a draft, or only a push. `title` and `body` apply to this and later updates;
         *     omitted, the last ones are kept. plait's own title and an empty body mean that plait writes them.
         */
        ShipBody: {
            /**
             * Body
             * @description Markdown
             */
            body?: string | null;
            /**
             * Publish
             * @default pr
             * @enum {string}
             */
            publish?: "pr" | "draft" | "push";
            /**
             * Title
             * @description One line of text
             */
            title?: string | null;
        };
        /**
         * SourceStatus
         * @description The status of a task in its source; people and programs see these values.
         * @enum {string}
         */
        SourceStatus: "pending" | "in_progress" | "completed" | "skipped" | "failed" | "blocked" | "partial" | "stuck" | "unreadable";
        /**
         * SourceTask
         * @description A task of the sources. `parts`: the tasks of a group. `notEditable`: why it can't be edited.
         */
        SourceTask: {
            /** Agent */
            agent: string | null;
            batch: components["schemas"]["TaskRun"] | null;
            /** Conflictswith */
            conflictsWith: string[];
            /** Editable */
            editable: boolean;
            /** Format */
            format: string;
            /** Id */
            id: string;
            /** Model */
            model: string | null;
            /** Needs */
            needs: components["schemas"]["Dependency"][];
            /** Noteditable */
            notEditable: string | null;
            /** Parts */
            parts: string[];
            /** Phase */
            phase: string | null;
            /** Phasetitle */
            phaseTitle: string | null;
            /** Priority */
            priority: number;
            /** Run */
            run: string | null;
            /** Source */
            source: string | null;
            status: components["schemas"]["SourceStatus"];
            /** Title */
            title: string;
            /** Touches */
            touches: string[];
            /** Verify */
            verify: string | null;
            /** Weight */
            weight: number;
        };
        /**
         * SourceTaskWithText
         * @description A task with its texts. `text` is its whole file, `version` what an edit has to name; null: not editable.
         */
        SourceTaskWithText: {
            /** Agent */
            agent: string | null;
            batch: components["schemas"]["TaskRun"] | null;
            /** Body */
            body: string;
            /** Conflictswith */
            conflictsWith: string[];
            /** Editable */
            editable: boolean;
            /** Format */
            format: string;
            /** Id */
            id: string;
            /** Model */
            model: string | null;
            /** Needs */
            needs: components["schemas"]["Dependency"][];
            /** Noteditable */
            notEditable: string | null;
            /** Parts */
            parts: string[];
            /** Phase */
            phase: string | null;
            /** Phasetitle */
            phaseTitle: string | null;
            /** Priority */
            priority: number;
            /** Problems */
            problems: components["schemas"]["ProblemDetails"][];
            /** Run */
            run: string | null;
            /** Source */
            source: string | null;
            status: components["schemas"]["SourceStatus"];
            /** Text */
            text: string | null;
            /** Title */
            title: string;
            /** Touches */
            touches: string[];
            /** Verify */
            verify: string | null;
            /** Version */
            version: string | null;
            /** Weight */
            weight: number;
        };
        /** SourceTasks */
        SourceTasks: {
            /** Problems */
            problems: components["schemas"]["ProblemDetails"][];
            /** Tasks */
            tasks: components["schemas"]["SourceTask"][];
        };
        /**
         * Span
         * @description A span of time. `completedAt` null: it hasn't ended. `result` of an attempt is its category.
         */
        Span: {
            /** Agent */
            agent: string | null;
            /** Completedat */
            completedAt: string | null;
            /** Detail */
            detail: string | null;
            endedFor: components["schemas"]["EndWhy"] | null;
            kind: components["schemas"]["SpanKind"];
            /** N */
            n: number | null;
            /** Result */
            result: string | null;
            /** Startedat */
            startedAt: string;
        };
        /**
         * SpanKind
         * @enum {string}
         */
        SpanKind: "write" | "verify" | "merge" | "gate" | "pause" | "rebuild" | "publish";
        /**
         * Step
         * @description One stage of a task. Attempts are made at write and verify; merging is the batch's own work.
         * @enum {string}
         */
        Step: "write" | "verify" | "merge";
        /**
         * TaskAction
         * @enum {string}
         */
        TaskAction: "cancel" | "retry" | "recheck" | "drop" | "approve" | "feedback";
        /**
         * TaskConflict
         * @description The conflict of a task. `with` is the commit of the batch branch that the change from `base` to `tip` was merged
         *     onto. `more`: number of files that are left out.
         */
        TaskConflict: {
            /** Base */
            base: string;
            /** Batchid */
            batchId: string;
            /** Files */
            files: components["schemas"]["ConflictFile"][];
            /** More */
            more: number;
            /** Taskid */
            taskId: string;
            /** Tip */
            tip: string;
            /** With */
            with: string;
        };
        /**
         * TaskEdit
         * @description An edit of a task. `version` is the one that was read, so that later changes are not overwritten.
         *
         *     `text` is the whole file, without other fields.
         */
        TaskEdit: {
            /** Agent */
            agent?: string | null;
            /** Body */
            body?: string | null;
            /** Model */
            model?: string | null;
            /** Needs */
            needs?: string[] | null;
            /** Phase */
            phase?: string | null;
            /** Priority */
            priority?: string | number | null;
            /** Run */
            run?: string | null;
            /** Text */
            text?: string | null;
            /** Title */
            title?: string | null;
            /** Touches */
            touches?: string[] | null;
            /** Verify */
            verify?: string | null;
            /** Version */
            version: string;
            /** Weight */
            weight?: string | number | null;
        };
        /** TaskResult */
        TaskResult: {
            /** Branch */
            branch: string | null;
            /** Commit */
            commit: string | null;
            /** Files */
            files: string[];
            gate: components["schemas"]["GateResult"] | null;
            /** Place */
            place: number | null;
            /** Published */
            published: string | null;
            /** Ref */
            ref: string | null;
            /** Tip */
            tip: string | null;
            /** Worktreepath */
            worktreePath: string | null;
        };
        /**
         * TaskRun
         * @description The status of a task in the newest batch that has it; `taskId` is its id in that batch.
         *
         *     `short`: the reason without what the status says. `needsYou`: it waits for an answer, an approval or a decision.
         *     `review`: it is done, and its batch branch isn't published. `seconds`: of attempts that have ended; `workingSince`: the start of the running one.
         */
        TaskRun: {
            /** Agent */
            agent: string | null;
            /** Attempt */
            attempt: number;
            /** Batchid */
            batchId: string;
            category: components["schemas"]["Category"] | null;
            /** Commit */
            commit: string | null;
            /** Completedat */
            completedAt: string | null;
            cost: components["schemas"]["Cost"];
            diffstat: components["schemas"]["Diffstat"] | null;
            /** Needsyou */
            needsYou: boolean;
            /** Phase */
            phase: string | null;
            /** Reason */
            reason: string;
            /** Review */
            review: boolean;
            /** Seconds */
            seconds: number;
            /** Shipped */
            shipped: boolean;
            /** Short */
            short: string;
            /** Startedat */
            startedAt: string | null;
            status: components["schemas"]["TaskStatus"];
            /** Taskid */
            taskId: string;
            waiting: components["schemas"]["WaitReason"] | null;
            /** Workingsince */
            workingSince: string | null;
        };
        /**
         * TaskRuns
         * @description The runs of the requested `tasks` in a batch.
         */
        TaskRuns: {
            batch: components["schemas"]["BatchHead"];
            /** Tasks */
            tasks: components["schemas"]["TaskRun"][];
        };
        /**
         * TaskStatus
         * @enum {string}
         */
        TaskStatus: "queued" | "waiting" | "running" | "verifying" | "merging" | "done" | "failed" | "timed_out" | "blocked" | "skipped" | "conflicted" | "cancelled" | "interrupted";
        /**
         * TaskTimeline
         * @description The timeline of a task. `status` null: it hasn't ended. `waits`: when nothing of it was running.
         */
        TaskTimeline: {
            /** Retries */
            retries: components["schemas"]["ScheduledRetry"][];
            /** Spans */
            spans: components["schemas"]["Span"][];
            status: components["schemas"]["TaskStatus"] | null;
            /** Taskid */
            taskId: string;
            /** Title */
            title: string;
            /** Waits */
            waits: components["schemas"]["Wait"][];
        };
        /**
         * Timeline
         * @description The timeline of a batch. `spans` are its own: gates, pauses, rebuilds, publishing.
         */
        Timeline: {
            /** Batchid */
            batchId: string;
            /** Completedat */
            completedAt: string | null;
            /** Spans */
            spans: components["schemas"]["Span"][];
            /** Startedat */
            startedAt: string | null;
            /** Tasks */
            tasks: components["schemas"]["TaskTimeline"][];
        };
        /** ToldFeedback */
        ToldFeedback: {
            /** At */
            at: string;
            source: components["schemas"]["FeedbackSource"];
            /** Text */
            text: string;
        };
        /** UnpauseBody */
        UnpauseBody: {
            /**
             * Budget
             * @description The new budget of a batch that its budget paused: 40usd; empty: none. Omitted: as before
             */
            budget?: string | null;
        };
        /**
         * UnwrittenSource
         * @description A source that lacks statuses of a batch's tasks. `retried`: plait tries again when it next runs.
         */
        UnwrittenSource: {
            /** Hint */
            hint: string;
            /** Retried */
            retried: boolean;
            /** Source */
            source: string;
            /** Why */
            why: string;
        };
        /**
         * ValueKind
         * @description Which kind of form field fits a setting; the values are part of the HTTP API.
         * @enum {string}
         */
        ValueKind: "text" | "switch" | "table" | "duration" | "size" | "amount" | "number" | "choice" | "choices" | "list";
        /** Wait */
        Wait: {
            /** Completedat */
            completedAt: string | null;
            /** Startedat */
            startedAt: string;
        };
        /**
         * WaitReason
         * @description What a task waits on, for programs.
         * @enum {string}
         */
        WaitReason: "needs" | "phase" | "files" | "backoff" | "answer" | "approval" | "pause" | "budget" | "limit" | "memory" | "branch" | "turn" | "slot" | "program";
        /**
         * WriteBack
         * @description Where a batch's statuses are written into its sources: the user's checkout, the batch branch, both, or nowhere.
         * @enum {string}
         */
        WriteBack: "checkout" | "branch" | "both" | "off";
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listAgents: {
        parameters: {
            query?: {
                /** @description The project's id; none: the default project */
                project?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Agents"];
                };
            };
            /** @description Malformed request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or a wrong one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not allowed for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body took too long */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not possible in this state, named in `state` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The URL is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unknown host name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Invalid; `field` says what */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many wrong tokens */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The headers are too long */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error; see the server log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait failed: the disk, git, the journal */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listBatches: {
        parameters: {
            query?: {
                /** @description Number of batches, newest first */
                limit?: number;
                /** @description false: without tasks */
                tasks?: boolean;
                /** @description true: only open batches; false: only ended ones */
                open?: boolean | null;
                /** @description true: open batches beyond the limit, too */
                allOpen?: boolean;
                /** @description The project's id; none: the default project */
                project?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    /** @description For Last-Event-ID: events from here on continue this response without a gap */
                    "Plait-Mark"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Batches"];
                };
            };
            /** @description Malformed request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or a wrong one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not allowed for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body took too long */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The URL is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unknown host name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Invalid; `field` says what */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many wrong tokens */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The headers are too long */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error; see the server log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait failed: the disk, git, the journal */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createBatch: {
        parameters: {
            query?: {
                /** @description The project's id; none: the default project */
                project?: string | null;
            };
            header?: {
                /** @description A repeated request with the same key is answered, but not performed again */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewBatchSpec"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedBatch"];
                };
            };
            /** @description Durable, but no engine has taken it yet */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedBatch"];
                };
            };
            /** @description Malformed request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or a wrong one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not allowed for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body took too long */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not possible in this state, named in `state` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The URL is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unknown host name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Invalid; `field` says what */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many wrong tokens */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The headers are too long */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error; see the server log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait failed: the disk, git, the journal */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getBatch: {
        parameters: {
            query?: {
                /** @description The project's id; none: the default project */
                project?: string | null;
            };
            header?: never;
            path: {
                /** @description A batch's id, or a unique prefix of it */
                batch_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    /** @description For Last-Event-ID: events from here on continue this response without a gap */
                    "Plait-Mark"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Batch"];
                };
            };
            /** @description Malformed request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or a wrong one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not allowed for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body took too long */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not possible in this state, named in `state` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The URL is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unknown host name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Invalid; `field` says what */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many wrong tokens */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The headers are too long */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error; see the server log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait failed: the disk, git, the journal */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    approveBatch: {
        parameters: {
            query?: {
                /** @description The project's id; none: the default project */
                project?: string | null;
            };
            header?: {
                /** @description A repeated request with the same key is answered, but not performed again */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description A batch's id, or a unique prefix of it */
                batch_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ApproveBody"] | null;
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActionResults"];
                };
            };
            /** @description Durable, but no engine has answered yet */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActionResults"];
                };
            };
            /** @description Malformed request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or a wrong one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not allowed for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body took too long */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not possible in this state, named in `state` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The URL is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unknown host name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Invalid; `field` says what */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many wrong tokens */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The headers are too long */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error; see the server log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait failed: the disk, git, the journal */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    cancelBatch: {
        parameters: {
            query?: {
                /** @description The project's id; none: the default project */
                project?: string | null;
            };
            header?: {
                /** @description A repeated request with the same key is answered, but not performed again */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description A batch's id, or a unique prefix of it */
                batch_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActionResults"];
                };
            };
            /** @description Durable, but no engine has answered yet */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActionResults"];
                };
            };
            /** @description Malformed request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or a wrong one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not allowed for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body took too long */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not possible in this state, named in `state` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The URL is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unknown host name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Invalid; `field` says what */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many wrong tokens */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The headers are too long */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error; see the server log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait failed: the disk, git, the journal */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getChanges: {
        parameters: {
            query?: {
                /** @description The project's id; none: the default project */
                project?: string | null;
            };
            header?: never;
            path: {
                /** @description A batch's id, or a unique prefix of it */
                batch_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MergedChanges"];
                };
            };
            /** @description Malformed request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or a wrong one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not allowed for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body took too long */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not possible in this state, named in `state` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The URL is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unknown host name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Invalid; `field` says what */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many wrong tokens */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The headers are too long */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error; see the server log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait failed: the disk, git, the journal */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getBatchDiff: {
        parameters: {
            query?: {
                from?: number;
                format?: components["schemas"]["DiffFormat"];
                /** @description The project's id; none: the default project */
                project?: string | null;
            };
            header?: never;
            path: {
                /** @description A batch's id, or a unique prefix of it */
                batch_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description As from `git diff`, or as JSON */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FullDiff"];
                    "text/plain; charset=utf-8": string;
                };
            };
            /** @description Malformed request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or a wrong one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not allowed for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body took too long */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not possible in this state, named in `state` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The URL is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unknown host name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Invalid; `field` says what */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many wrong tokens */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The headers are too long */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error; see the server log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait failed: the disk, git, the journal */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getBatchDiffFile: {
        parameters: {
            query: {
                format?: components["schemas"]["FileFormat"];
                /** @description The project's id; none: the default project */
                project?: string | null;
                /** @description The file's name on this side */
                path: string;
                side?: components["schemas"]["DiffSide"];
                /** @description The beginning of its content's id, as in the diff's `index` line: 409 if it has changed since */
                blob?: string;
            };
            header?: never;
            path: {
                /** @description A batch's id, or a unique prefix of it */
                batch_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file, without secrets */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "image/avif": string;
                    "image/bmp": string;
                    "image/gif": string;
                    "image/jpeg": string;
                    "image/png": string;
                    "image/svg+xml": string;
                    "image/webp": string;
                    "image/x-icon": string;
                    "text/plain; charset=utf-8": string;
                };
            };
            /** @description Malformed request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or a wrong one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not allowed for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body took too long */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not possible in this state, named in `state` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The URL is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unknown host name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Invalid; `field` says what */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many wrong tokens */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The headers are too long */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error; see the server log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait failed: the disk, git, the journal */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getGraph: {
        parameters: {
            query?: {
                /** @description The project's id; none: the default project */
                project?: string | null;
            };
            header?: never;
            path: {
                /** @description A batch's id, or a unique prefix of it */
                batch_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Graph"];
                };
            };
            /** @description Malformed request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or a wrong one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not allowed for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body took too long */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not possible in this state, named in `state` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The URL is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unknown host name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Invalid; `field` says what */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many wrong tokens */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The headers are too long */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error; see the server log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait failed: the disk, git, the journal */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    readGateLog: {
        parameters: {
            query?: {
                /** @description None: the newest */
                gate?: number | null;
                /** @description A byte offset; negative: relative to the end */
                from?: number;
                /** @description Maximum size in bytes */
                limit?: number;
                /** @description The project's id; none: the default project */
                project?: string | null;
            };
            header?: never;
            path: {
                /** @description A batch's id, or a unique prefix of it */
                batch_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A part of the transcript in whole lines, without secrets */
            200: {
                headers: {
                    /** @description This is the last part */
                    "Plait-Ended"?: boolean;
                    /** @description The gate's number */
                    "Plait-Gate"?: number;
                    /** @description Where the next part starts */
                    "Plait-Next"?: number;
                    /** @description Where this part starts; later than requested if something was left out */
                    "Plait-Offset"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "text/plain; charset=utf-8": string;
                };
            };
            /** @description Malformed request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or a wrong one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not allowed for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body took too long */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not possible in this state, named in `state` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The URL is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unknown host name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Invalid; `field` says what */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many wrong tokens */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The headers are too long */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error; see the server log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait failed: the disk, git, the journal */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    pauseBatch: {
        parameters: {
            query?: {
                /** @description The project's id; none: the default project */
                project?: string | null;
            };
            header?: {
                /** @description A repeated request with the same key is answered, but not performed again */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description A batch's id, or a unique prefix of it */
                batch_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActionResults"];
                };
            };
            /** @description Durable, but no engine has answered yet */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActionResults"];
                };
            };
            /** @description Malformed request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or a wrong one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not allowed for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body took too long */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not possible in this state, named in `state` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The URL is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unknown host name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Invalid; `field` says what */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many wrong tokens */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The headers are too long */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error; see the server log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait failed: the disk, git, the journal */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getPullRequestText: {
        parameters: {
            query?: {
                /** @description The project's id; none: the default project */
                project?: string | null;
            };
            header?: never;
            path: {
                /** @description A batch's id, or a unique prefix of it */
                batch_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PullRequestPreview"];
                };
            };
            /** @description Malformed request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or a wrong one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not allowed for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body took too long */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not possible in this state, named in `state` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The URL is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unknown host name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Invalid; `field` says what */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many wrong tokens */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The headers are too long */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error; see the server log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait failed: the disk, git, the journal */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    publishBatch: {
        parameters: {
            query?: {
                /** @description The project's id; none: the default project */
                project?: string | null;
            };
            header?: {
                /** @description A repeated request with the same key is answered, but not performed again */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description A batch's id, or a unique prefix of it */
                batch_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ShipBody"] | null;
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PublishResults"];
                };
            };
            /** @description In progress, or durable but not answered yet */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PublishResults"];
                };
            };
            /** @description Malformed request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or a wrong one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not allowed for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body took too long */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not possible in this state, named in `state` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The URL is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unknown host name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Invalid; `field` says what */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many wrong tokens */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The headers are too long */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error; see the server log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait failed: the disk, git, the journal */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    recheckBatch: {
        parameters: {
            query?: {
                /** @description The project's id; none: the default project */
                project?: string | null;
            };
            header?: {
                /** @description A repeated request with the same key is answered, but not performed again */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description A batch's id, or a unique prefix of it */
                batch_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RecheckBody"] | null;
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActionResults"];
                };
            };
            /** @description Durable, but no engine has answered yet */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActionResults"];
                };
            };
            /** @description Malformed request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or a wrong one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not allowed for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body took too long */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not possible in this state, named in `state` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The URL is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unknown host name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Invalid; `field` says what */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many wrong tokens */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The headers are too long */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error; see the server log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait failed: the disk, git, the journal */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    resumeBatch: {
        parameters: {
            query?: {
                /** @description The project's id; none: the default project */
                project?: string | null;
            };
            header?: {
                /** @description A repeated request with the same key is answered, but not performed again */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description A batch's id, or a unique prefix of it */
                batch_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActionResults"];
                };
            };
            /** @description Durable, but no engine has answered yet */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActionResults"];
                };
            };
            /** @description Malformed request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or a wrong one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not allowed for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body took too long */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not possible in this state, named in `state` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The URL is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unknown host name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Invalid; `field` says what */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many wrong tokens */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The headers are too long */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error; see the server log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait failed: the disk, git, the journal */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    retryBatch: {
        parameters: {
            query?: {
                /** @description The project's id; none: the default project */
                project?: string | null;
            };
            header?: {
                /** @description A repeated request with the same key is answered, but not performed again */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description A batch's id, or a unique prefix of it */
                batch_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RetryBody"] | null;
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActionResults"];
                };
            };
            /** @description Durable, but no engine has answered yet */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActionResults"];
                };
            };
            /** @description Malformed request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or a wrong one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not allowed for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body took too long */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not possible in this state, named in `state` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The URL is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unknown host name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Invalid; `field` says what */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many wrong tokens */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The headers are too long */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error; see the server log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait failed: the disk, git, the journal */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getStanding: {
        parameters: {
            query?: {
                /** @description A task's exact id; none: all tasks of the batch */
                task?: string[];
                /** @description The project's id; none: the default project */
                project?: string | null;
            };
            header?: never;
            path: {
                /** @description A batch's id, or a unique prefix of it */
                batch_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    /** @description For Last-Event-ID: events from here on continue this response without a gap */
                    "Plait-Mark"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskRuns"];
                };
            };
            /** @description Malformed request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or a wrong one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not allowed for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body took too long */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not possible in this state, named in `state` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The URL is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unknown host name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Invalid; `field` says what */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many wrong tokens */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The headers are too long */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error; see the server log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait failed: the disk, git, the journal */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    approveTask: {
        parameters: {
            query?: {
                /** @description The project's id; none: the default project */
                project?: string | null;
            };
            header?: {
                /** @description A repeated request with the same key is answered, but not performed again */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description A batch's id, or a unique prefix of it */
                batch_id: string;
                /** @description A task's id, percent-encoded */
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActionResults"];
                };
            };
            /** @description Durable, but no engine has answered yet */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActionResults"];
                };
            };
            /** @description Malformed request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or a wrong one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not allowed for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body took too long */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not possible in this state, named in `state` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The URL is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unknown host name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Invalid; `field` says what */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many wrong tokens */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The headers are too long */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error; see the server log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait failed: the disk, git, the journal */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    cancelTask: {
        parameters: {
            query?: {
                /** @description The project's id; none: the default project */
                project?: string | null;
            };
            header?: {
                /** @description A repeated request with the same key is answered, but not performed again */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description A batch's id, or a unique prefix of it */
                batch_id: string;
                /** @description A task's id, percent-encoded */
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActionResults"];
                };
            };
            /** @description Durable, but no engine has answered yet */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActionResults"];
                };
            };
            /** @description Malformed request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or a wrong one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not allowed for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body took too long */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not possible in this state, named in `state` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The URL is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unknown host name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Invalid; `field` says what */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many wrong tokens */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The headers are too long */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error; see the server log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait failed: the disk, git, the journal */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getConflict: {
        parameters: {
            query?: {
                /** @description The project's id; none: the default project */
                project?: string | null;
            };
            header?: never;
            path: {
                /** @description A batch's id, or a unique prefix of it */
                batch_id: string;
                /** @description A task's id, percent-encoded */
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskConflict"];
                };
            };
            /** @description Malformed request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or a wrong one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not allowed for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body took too long */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not possible in this state, named in `state` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The URL is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unknown host name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Invalid; `field` says what */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many wrong tokens */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The headers are too long */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error; see the server log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait failed: the disk, git, the journal */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getConversation: {
        parameters: {
            query?: {
                /** @description The project's id; none: the default project */
                project?: string | null;
            };
            header?: never;
            path: {
                /** @description A batch's id, or a unique prefix of it */
                batch_id: string;
                /** @description A task's id, percent-encoded */
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Conversation"];
                };
            };
            /** @description Malformed request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or a wrong one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not allowed for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body took too long */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not possible in this state, named in `state` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The URL is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unknown host name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Invalid; `field` says what */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many wrong tokens */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The headers are too long */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error; see the server log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait failed: the disk, git, the journal */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getTaskDiff: {
        parameters: {
            query?: {
                from?: number;
                format?: components["schemas"]["DiffFormat"];
                /** @description The project's id; none: the default project */
                project?: string | null;
                /** @description None: the newest */
                attempt?: number | null;
                /** @description An earlier attempt to compare with */
                since?: number | null;
                /** @description What a person made of its nth conflict, in place of an attempt */
                resolution?: number | null;
            };
            header?: never;
            path: {
                /** @description A batch's id, or a unique prefix of it */
                batch_id: string;
                /** @description A task's id, percent-encoded */
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description As from `git diff`, or as JSON */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FullDiff"];
                    "text/plain; charset=utf-8": string;
                };
            };
            /** @description Malformed request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or a wrong one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not allowed for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body took too long */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not possible in this state, named in `state` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The URL is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unknown host name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Invalid; `field` says what */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many wrong tokens */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The headers are too long */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error; see the server log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait failed: the disk, git, the journal */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getTaskDiffFile: {
        parameters: {
            query: {
                format?: components["schemas"]["FileFormat"];
                /** @description The project's id; none: the default project */
                project?: string | null;
                /** @description None: the newest */
                attempt?: number | null;
                /** @description An earlier attempt to compare with */
                since?: number | null;
                /** @description What a person made of its nth conflict, in place of an attempt */
                resolution?: number | null;
                /** @description The file's name on this side */
                path: string;
                side?: components["schemas"]["DiffSide"];
                /** @description The beginning of its content's id, as in the diff's `index` line: 409 if it has changed since */
                blob?: string;
            };
            header?: never;
            path: {
                /** @description A batch's id, or a unique prefix of it */
                batch_id: string;
                /** @description A task's id, percent-encoded */
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file, without secrets */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "image/avif": string;
                    "image/bmp": string;
                    "image/gif": string;
                    "image/jpeg": string;
                    "image/png": string;
                    "image/svg+xml": string;
                    "image/webp": string;
                    "image/x-icon": string;
                    "text/plain; charset=utf-8": string;
                };
            };
            /** @description Malformed request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or a wrong one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not allowed for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body took too long */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not possible in this state, named in `state` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The URL is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unknown host name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Invalid; `field` says what */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many wrong tokens */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The headers are too long */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error; see the server log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait failed: the disk, git, the journal */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    dropTask: {
        parameters: {
            query?: {
                /** @description The project's id; none: the default project */
                project?: string | null;
            };
            header?: {
                /** @description A repeated request with the same key is answered, but not performed again */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description A batch's id, or a unique prefix of it */
                batch_id: string;
                /** @description A task's id, percent-encoded */
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActionResults"];
                };
            };
            /** @description Durable, but no engine has answered yet */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActionResults"];
                };
            };
            /** @description Malformed request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or a wrong one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not allowed for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body took too long */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not possible in this state, named in `state` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The URL is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unknown host name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Invalid; `field` says what */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many wrong tokens */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The headers are too long */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error; see the server log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait failed: the disk, git, the journal */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    explainTask: {
        parameters: {
            query?: {
                /** @description The project's id; none: the default project */
                project?: string | null;
            };
            header?: never;
            path: {
                /** @description A batch's id, or a unique prefix of it */
                batch_id: string;
                /** @description A task's id, percent-encoded */
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Explanation"];
                };
            };
            /** @description Malformed request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or a wrong one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not allowed for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body took too long */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not possible in this state, named in `state` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The URL is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unknown host name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Invalid; `field` says what */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many wrong tokens */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The headers are too long */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error; see the server log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait failed: the disk, git, the journal */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    giveFeedback: {
        parameters: {
            query?: {
                /** @description The project's id; none: the default project */
                project?: string | null;
            };
            header?: {
                /** @description A repeated request with the same key is answered, but not performed again */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description A batch's id, or a unique prefix of it */
                batch_id: string;
                /** @description A task's id, percent-encoded */
                task_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FeedbackBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActionResults"];
                };
            };
            /** @description Durable, but no engine has answered yet */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActionResults"];
                };
            };
            /** @description Malformed request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or a wrong one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not allowed for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body took too long */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not possible in this state, named in `state` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The URL is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unknown host name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Invalid; `field` says what */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many wrong tokens */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The headers are too long */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error; see the server log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait failed: the disk, git, the journal */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getLog: {
        parameters: {
            query?: {
                /** @description A byte offset; negative: relative to the end */
                from?: number;
                /** @description None: the newest */
                attempt?: number | null;
                /** @description The attempt itself, or its verification. None: from the start, the check at which the task failed */
                step?: ("write" | "verify") | null;
                /** @description Maximum size in bytes */
                limit?: number;
                format?: components["schemas"]["LogFormat"];
                /** @description The project's id; none: the default project */
                project?: string | null;
            };
            header?: never;
            path: {
                /** @description A batch's id, or a unique prefix of it */
                batch_id: string;
                /** @description A task's id, percent-encoded */
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A part of the transcript in whole lines, without secrets */
            200: {
                headers: {
                    /** @description The attempt, such as `write-2` */
                    "Plait-Attempt"?: string;
                    /** @description This is the last part */
                    "Plait-Ended"?: boolean;
                    /** @description Where the next part starts */
                    "Plait-Next"?: number;
                    /** @description Where this part starts; later than requested if something was left out */
                    "Plait-Offset"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                    "text/plain; charset=utf-8": string;
                };
            };
            /** @description Malformed request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or a wrong one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not allowed for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body took too long */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not possible in this state, named in `state` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The URL is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unknown host name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Invalid; `field` says what */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many wrong tokens */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The headers are too long */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error; see the server log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait failed: the disk, git, the journal */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    recheckTask: {
        parameters: {
            query?: {
                /** @description The project's id; none: the default project */
                project?: string | null;
            };
            header?: {
                /** @description A repeated request with the same key is answered, but not performed again */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description A batch's id, or a unique prefix of it */
                batch_id: string;
                /** @description A task's id, percent-encoded */
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RecheckBody"] | null;
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActionResults"];
                };
            };
            /** @description Durable, but no engine has answered yet */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActionResults"];
                };
            };
            /** @description Malformed request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or a wrong one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not allowed for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body took too long */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not possible in this state, named in `state` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The URL is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unknown host name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Invalid; `field` says what */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many wrong tokens */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The headers are too long */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error; see the server log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait failed: the disk, git, the journal */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    resolveTaskConflict: {
        parameters: {
            query?: {
                /** @description The project's id; none: the default project */
                project?: string | null;
            };
            header?: {
                /** @description A repeated request with the same key is answered, but not performed again */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description A batch's id, or a unique prefix of it */
                batch_id: string;
                /** @description A task's id, percent-encoded */
                task_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResolveBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActionResults"];
                };
            };
            /** @description Durable, but no engine has answered yet */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActionResults"];
                };
            };
            /** @description Malformed request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or a wrong one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not allowed for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body took too long */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not possible in this state, named in `state` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The URL is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unknown host name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Invalid; `field` says what */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many wrong tokens */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The headers are too long */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error; see the server log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait failed: the disk, git, the journal */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    retryTask: {
        parameters: {
            query?: {
                /** @description The project's id; none: the default project */
                project?: string | null;
            };
            header?: {
                /** @description A repeated request with the same key is answered, but not performed again */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description A batch's id, or a unique prefix of it */
                batch_id: string;
                /** @description A task's id, percent-encoded */
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RetryBody"] | null;
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActionResults"];
                };
            };
            /** @description Durable, but no engine has answered yet */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActionResults"];
                };
            };
            /** @description Malformed request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or a wrong one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not allowed for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body took too long */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not possible in this state, named in `state` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The URL is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unknown host name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Invalid; `field` says what */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many wrong tokens */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The headers are too long */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error; see the server log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait failed: the disk, git, the journal */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getTimeline: {
        parameters: {
            query?: {
                /** @description The project's id; none: the default project */
                project?: string | null;
            };
            header?: never;
            path: {
                /** @description A batch's id, or a unique prefix of it */
                batch_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Timeline"];
                };
            };
            /** @description Malformed request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or a wrong one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not allowed for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body took too long */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not possible in this state, named in `state` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The URL is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unknown host name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Invalid; `field` says what */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many wrong tokens */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The headers are too long */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error; see the server log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait failed: the disk, git, the journal */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    unpauseBatch: {
        parameters: {
            query?: {
                /** @description The project's id; none: the default project */
                project?: string | null;
            };
            header?: {
                /** @description A repeated request with the same key is answered, but not performed again */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description A batch's id, or a unique prefix of it */
                batch_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["UnpauseBody"] | null;
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActionResults"];
                };
            };
            /** @description Durable, but no engine has answered yet */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActionResults"];
                };
            };
            /** @description Malformed request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or a wrong one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not allowed for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body took too long */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not possible in this state, named in `state` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The URL is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unknown host name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Invalid; `field` says what */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many wrong tokens */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The headers are too long */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error; see the server log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait failed: the disk, git, the journal */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    bulk: {
        parameters: {
            query?: {
                /** @description The project's id; none: the default project */
                project?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BulkBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BulkResults"];
                };
            };
            /** @description Malformed request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or a wrong one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not allowed for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body took too long */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not possible in this state, named in `state` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The URL is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unknown host name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Invalid; `field` says what */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many wrong tokens */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The headers are too long */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error; see the server log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait failed: the disk, git, the journal */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listen: {
        parameters: {
            query?: {
                /** @description As Last-Event-ID, for clients that can't send it; 0: from the beginning */
                since?: string | null;
                /** @description Only events of this batch */
                batch?: string | null;
                /** @description false: without agent output */
                logs?: boolean;
                /** @description The project's id; none: the default project */
                project?: string | null;
            };
            header?: {
                "Last-Event-ID"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Endless server-sent events: `id`, `event`, and this object as JSON in `data` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["Event"];
                };
            };
            /** @description Malformed request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or a wrong one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not allowed for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body took too long */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not possible in this state, named in `state` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The URL is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unknown host name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Invalid; `field` says what */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many wrong tokens */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The headers are too long */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error; see the server log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait failed: the disk, git, the journal */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getMe: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallerDetails"];
                };
            };
            /** @description Malformed request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or a wrong one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not allowed for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body took too long */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The URL is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unknown host name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Invalid; `field` says what */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many wrong tokens */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The headers are too long */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error; see the server log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait failed: the disk, git, the journal */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    plan: {
        parameters: {
            query?: {
                /** @description The project's id; none: the default project */
                project?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["BatchSpec"] | null;
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlanDetails"];
                };
            };
            /** @description Malformed request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or a wrong one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not allowed for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body took too long */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not possible in this state, named in `state` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The URL is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unknown host name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Invalid; `field` says what */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many wrong tokens */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The headers are too long */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error; see the server log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait failed: the disk, git, the journal */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listProjects: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Projects"];
                };
            };
            /** @description Malformed request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or a wrong one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not allowed for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body took too long */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The URL is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unknown host name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Invalid; `field` says what */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many wrong tokens */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The headers are too long */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error; see the server log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait failed: the disk, git, the journal */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    addProject: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProjectBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProjectDetails"];
                };
            };
            /** @description Malformed request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or a wrong one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not allowed for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body took too long */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not possible in this state, named in `state` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The URL is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unknown host name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Invalid; `field` says what */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many wrong tokens */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The headers are too long */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error; see the server log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait failed: the disk, git, the journal */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    removeProject: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Malformed request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or a wrong one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not allowed for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body took too long */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not possible in this state, named in `state` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The URL is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unknown host name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Invalid; `field` says what */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many wrong tokens */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The headers are too long */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error; see the server log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait failed: the disk, git, the journal */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getSettings: {
        parameters: {
            query?: {
                /** @description The project's id; none: the default project */
                project?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Preferences"];
                };
            };
            /** @description Malformed request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or a wrong one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not allowed for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body took too long */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not possible in this state, named in `state` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The URL is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unknown host name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Invalid; `field` says what */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many wrong tokens */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The headers are too long */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error; see the server log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait failed: the disk, git, the journal */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    changeSettings: {
        parameters: {
            query?: {
                /** @description The project's id; none: the default project */
                project?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PreferencesPatch"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangedPreferences"];
                };
            };
            /** @description Durable, but no engine has answered yet */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangedPreferences"];
                };
            };
            /** @description Malformed request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or a wrong one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not allowed for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body took too long */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not possible in this state, named in `state` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The URL is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unknown host name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Invalid; `field` says what */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many wrong tokens */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The headers are too long */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error; see the server log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait failed: the disk, git, the journal */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    describeSettings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SettingsForm"];
                };
            };
            /** @description Malformed request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or a wrong one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not allowed for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body took too long */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The URL is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unknown host name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Invalid; `field` says what */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many wrong tokens */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The headers are too long */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error; see the server log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait failed: the disk, git, the journal */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listTasks: {
        parameters: {
            query?: {
                /** @description The project's id; none: the default project */
                project?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    /** @description For Last-Event-ID: events from here on continue this response without a gap */
                    "Plait-Mark"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SourceTasks"];
                };
            };
            /** @description Malformed request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or a wrong one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not allowed for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body took too long */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not possible in this state, named in `state` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The URL is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unknown host name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Invalid; `field` says what */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many wrong tokens */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The headers are too long */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error; see the server log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait failed: the disk, git, the journal */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createTask: {
        parameters: {
            query?: {
                /** @description The project's id; none: the default project */
                project?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewTask"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SourceTaskWithText"];
                };
            };
            /** @description Malformed request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or a wrong one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not allowed for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body took too long */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not possible in this state, named in `state` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The URL is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unknown host name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Invalid; `field` says what */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many wrong tokens */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The headers are too long */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error; see the server log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait failed: the disk, git, the journal */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getTask: {
        parameters: {
            query?: {
                /** @description The project's id; none: the default project */
                project?: string | null;
            };
            header?: never;
            path: {
                /** @description A task's id, percent-encoded */
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SourceTaskWithText"];
                };
            };
            /** @description Malformed request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or a wrong one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not allowed for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body took too long */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not possible in this state, named in `state` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The URL is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unknown host name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Invalid; `field` says what */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many wrong tokens */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The headers are too long */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error; see the server log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait failed: the disk, git, the journal */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    editTask: {
        parameters: {
            query?: {
                /** @description The project's id; none: the default project */
                project?: string | null;
            };
            header?: never;
            path: {
                /** @description A task's id, percent-encoded */
                task_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TaskEdit"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SourceTaskWithText"];
                };
            };
            /** @description Malformed request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or a wrong one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not allowed for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body took too long */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not possible in this state, named in `state` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The URL is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unknown host name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Invalid; `field` says what */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many wrong tokens */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The headers are too long */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error; see the server log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait failed: the disk, git, the journal */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    health: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
        };
    };
    metrics: {
        parameters: {
            query?: never;
            header?: {
                accept?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The Prometheus exposition format */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/openmetrics-text": string;
                    "text/plain": string;
                };
            };
            /** @description Malformed request */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or a wrong one */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not allowed for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not found */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body took too long */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The body is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The URL is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Unknown host name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Invalid; `field` says what */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many wrong tokens */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The headers are too long */
            431: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Internal error; see the server log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait failed: the disk, git, the journal */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
}
