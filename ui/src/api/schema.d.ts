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
         * Listed
         * @description The agents that plait knows: which are here, and which are logged in.
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
         * Listed
         * @description All batches, the newest first.
         */
        get: operations["listBatches"];
        put?: never;
        /**
         * Create
         * @description Run these tasks: the answer comes when the batch is in the journal. Its `settings` count for this batch alone.
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
         * One
         * @description BATCH, the whole of it at one moment.
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
         * @description Let the next task of a queue start; `all`: ask no more.
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
         * @description End what runs, and give the rest up.
         */
        post: operations["cancelBatch"];
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
         * Batch Diff
         * @description All that the batch branch has and its base has not.
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
    "/api/batches/{batch_id}/graph": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Graph
         * @description Its tasks with their statuses, and every edge between them with its reason.
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
         * Gate Log
         * @description What a gate of the batch printed, from an offset on.
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
         * @description Start nothing new; what runs goes on.
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
         * Pull Request
         * @description What the batch's pull request would say, if it were opened or brought up to date now.
         */
        get: operations["getPullRequestText"];
        put?: never;
        /**
         * Publish
         * @description Push the batch branch, and open its pull request or bring it up to date. BATCH has `prUrl` when that is over.
         */
        post: operations["publishBatch"];
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
         * @description Go on with what was stopped: interrupted steps again, done tasks not.
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
         * @description Take up all that failed, timed out, conflicted or was cancelled.
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
         * Standing
         * @description Where some of its tasks stand, as /api/tasks has it under `batch`: for those who heard that something happened to them.
         *     An id that it has not is left out, and an entrant is told only by its name.
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
         * @description End it, and give it up.
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
         * Conflict
         * @description Both sides of the conflict that it is in, file by file.
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
    "/api/batches/{batch_id}/tasks/{task_id}/diff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Diff
         * @description What it changed, also while it is at it.
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
         * @description Go on without it; what it merged is taken out of the branch.
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
         * Explain
         * @description Why it is where it is, what it has been through, and what would make it go on.
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
         * @description A new attempt with these words, or the answer to its question.
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
         * Log
         * @description What an attempt printed, from an offset on. `format=events`: what it said and did, an `execution:log` event a line.
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
         * @description Take it up again, and with it what it held back; `agent`: another one is to try.
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
         * Timeline
         * @description Who worked when, what waited, what was merged: for a chart.
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
         * @description Go on.
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
         * Many
         * @description The same for many tasks: a result for each, and none fails for another's sake.
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
         * Events
         * @description What happens, as it happens; after the event that was heard last, without a gap or a repeat.
         *
         *     Without a mark: from now on; of one batch, from its beginning.
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
         * Me
         * @description What whoever asks may do, and what answers them.
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
         * @description What a batch of these tasks would be. Nothing is started; where it can't be, errors among the problems say why.
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
         * Listed
         * @description The repositories that this server knows; the one served comes first.
         */
        get: operations["listProjects"];
        put?: never;
        /**
         * Add
         * @description A checkout by its path, or a repository by its URL. One that is known already is brought up to date.
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
         * Remove
         * @description The server forgets it. Nothing is deleted, and what runs there goes on.
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
         * Shown
         * @description Every setting by its name, and who gave it.
         */
        get: operations["getSettings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change
         * @description Save settings, all or none; null forgets one. They count at once, also for what is running.
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
         * Described
         * @description What each setting means, and what may be said in its place.
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
         * Listed
         * @description Every task of the sources, selected or not, with where it stands in the newest batch that has it.
         */
        get: operations["listTasks"];
        put?: never;
        /**
         * Create
         * @description A new task, as a file in the folder of tasks.
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
         * One
         * @description A task with its texts, and the version that an edit goes by.
         */
        get: operations["getTask"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Edit
         * @description Change its file: what is not named stays as it is. 409 `changed`: somebody else was quicker, and nothing was written.
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
         * Health
         * @description The server answers. It needs no token, and tells nothing else.
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
         * Metrics
         * @description Of every project; of one that can't be read, that it can't.
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
        /** AgentShape */
        AgentShape: {
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
            login: components["schemas"]["Login"];
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
        /** Agents */
        Agents: {
            /** Agents */
            agents: components["schemas"]["AgentShape"][];
        };
        /** Answered */
        Answered: {
            /** Batchid */
            batchId: string;
            /** Results */
            results: components["schemas"]["Result"][];
        };
        /**
         * ApproveBody
         * @description `all`: of this batch nothing is to be approved any more.
         */
        ApproveBody: {
            /**
             * All
             * @default false
             */
            all?: boolean;
        };
        /** Batch */
        Batch: {
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
            /** Hint */
            hint: string | null;
            /** Id */
            id: string;
            mode: components["schemas"]["Mode"];
            /** Prurl */
            prUrl: string | null;
            progress: components["schemas"]["Progress"];
            /** Projectid */
            projectId: string | null;
            /** Reason */
            reason: string;
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
        };
        /**
         * BatchBody
         * @description `taskIds` are exact; `withNeeds`: and whatever they need, `ignoreNeeds`: without it.
         */
        BatchBody: {
            contest?: components["schemas"]["ContestBody"] | null;
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
        /**
         * BatchHead
         * @description A batch without its tasks. `reason`: why it is where it is, such as what paused it; `hint`: what to do about
         *     `unshipped`.
         */
        BatchHead: {
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
            /** Hint */
            hint: string | null;
            /** Id */
            id: string;
            mode: components["schemas"]["Mode"];
            /** Prurl */
            prUrl: string | null;
            progress: components["schemas"]["Progress"];
            /** Projectid */
            projectId: string | null;
            /** Reason */
            reason: string;
            settings: components["schemas"]["BatchSettings"];
            /** Shipped */
            shipped: string | null;
            /** Startedat */
            startedAt: string | null;
            status: components["schemas"]["BatchStatus"];
            /** Unshipped */
            unshipped: string | null;
        };
        /**
         * BatchListed
         * @description As in a list: `tasks` is left out with `?tasks=false`.
         */
        BatchListed: {
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
            /** Hint */
            hint: string | null;
            /** Id */
            id: string;
            mode: components["schemas"]["Mode"];
            /** Prurl */
            prUrl: string | null;
            progress: components["schemas"]["Progress"];
            /** Projectid */
            projectId: string | null;
            /** Reason */
            reason: string;
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
        };
        /**
         * BatchSettings
         * @description Lengths of time in seconds.
         */
        BatchSettings: {
            /** Agents */
            agents: string[];
            budget: components["schemas"]["BudgetShape"] | null;
            conflictBehavior: components["schemas"]["OnConflict"];
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
            /** Stoponfailure */
            stopOnFailure: boolean;
            taskBudget: components["schemas"]["BudgetShape"] | null;
            /** Timeout */
            timeout: number;
            /** Verify */
            verify: string | null;
            /** Verifytimeout */
            verifyTimeout: number;
            writeBack: components["schemas"]["WriteBack"];
        };
        /**
         * BatchStatus
         * @enum {string}
         */
        BatchStatus: "pending" | "running" | "paused" | "merging" | "completed" | "failed" | "cancelled";
        /**
         * BatchTask
         * @description `needsYou`: it waits for an answer, an approval or a decision.
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
            foreseen: components["schemas"]["Foreseen"][];
            /** Needsyou */
            needsYou: boolean;
            /** Phase */
            phase: string | null;
            /** Reason */
            reason: string;
            /** Sessionid */
            sessionId: string | null;
            /** Startedat */
            startedAt: string | null;
            status: components["schemas"]["TaskStatus"];
            /** Taskid */
            taskId: string;
            /** Title */
            title: string;
            waiting: components["schemas"]["Waiting"] | null;
            /** Winner */
            winner: string | null;
            /** Worktreepath */
            worktreePath: string | null;
        };
        /**
         * Batches
         * @description The newest first. `engine` null: none is at work.
         */
        Batches: {
            /** Batches */
            batches: components["schemas"]["BatchListed"][];
            engine: components["schemas"]["EngineSeen"] | null;
        };
        /** BudgetShape */
        BudgetShape: {
            /** Tokens */
            tokens: number | null;
            /** Usd */
            usd: number | null;
        };
        /**
         * BulkAnswered
         * @description In the order of `taskIds`.
         */
        BulkAnswered: {
            action: components["schemas"]["TaskAction"];
            /** Results */
            results: components["schemas"]["BulkResult"][];
        };
        /**
         * BulkBody
         * @description Without `batchId`: of each task the newest batch that has it. `agent` is for a retry, `text` for feedback.
         */
        BulkBody: {
            action: components["schemas"]["TaskAction"];
            /** Agent */
            agent?: string | null;
            /** Batchid */
            batchId?: string | null;
            /** Taskids */
            taskIds: string[];
            /** Text */
            text?: string | null;
        };
        /**
         * BulkOutcome
         * @enum {string}
         */
        BulkOutcome: "granted" | "refused" | "accepted" | "unknown";
        /**
         * BulkResult
         * @description `batchId` null: no batch has it.
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
         * Category
         * @description How an attempt ended, in the words the retry policy reads.
         * @enum {string}
         */
        Category: "ok" | "task" | "verify" | "empty" | "rate_limit" | "quota" | "auth" | "overloaded" | "network" | "context" | "usage" | "killed" | "lost" | "timeout" | "idle" | "question" | "conflict" | "merge" | "gate";
        /**
         * ChangedFile
         * @description `before` is the name it had, if it had another; lines of binary files are not counted.
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
        };
        /**
         * ChangedPreferences
         * @description `notes` say which open batches keep what they have. `accepted`: no engine has answered yet.
         */
        ChangedPreferences: {
            /** Accepted */
            accepted: boolean;
            /**
             * Accounts
             * @description whose rate limits each agent runs into; agents with the same account are held back together
             */
            accounts: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /**
             * Agent
             * @description the agents for tasks that name none, who share the work; none: the first one available
             */
            agent: string[];
            /**
             * Agentcommand
             * @description the command that is run as the agent; {task_file}, {prompt_file}, {task_id}, {title} … are filled in
             */
            agentCommand: string | null;
            /**
             * Agentlimits
             * @description attempts at once of one agent, for each agent named; 0: no limit
             */
            agentLimits: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /**
             * Agentshell
             * @description give that command to a shell as one line, instead of splitting it into words
             */
            agentShell: boolean;
            /**
             * Args
             * @description further words for each agent's command line
             */
            args: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /**
             * Base
             * @description the commit that a batch with worktrees starts from; none: the one that is checked out
             */
            base: string | null;
            /**
             * Baseurl
             * @description the server: Ollama's, or any that speaks as OpenAI's does, up to and with its /v1
             */
            baseUrl: string;
            /**
             * Budget
             * @description never start what could take the batch over it: 20usd, 500ktok, or one of each
             */
            budget: string | null;
            /**
             * Conflictbehavior
             * @description what a merge conflict means: leave the task out, stop the batch, or have an agent repair it
             * @enum {string}
             */
            conflictBehavior: "skip" | "fail" | "repair";
            /**
             * Contextlines
             * @description the most lines of files that a job's context may have
             */
            contextLines: number;
            /**
             * Contexttokens
             * @description the most that a prompt's files take, in tokens, as far as that can be told; what does not fit is left out
             */
            contextTokens: number;
            /**
             * Copy
             * @description ignored files of the checkout that each worktree gets a copy of, beside those that .worktreeinclude names
             */
            copy: string[];
            /**
             * Diskcap
             * @description the most disk that worktrees of this repository may take: above it, no task starts in a new one
             */
            diskCap: number;
            /**
             * Fallback
             * @description the agents that take over while the provider of a task's own refuses; none: its tasks wait
             */
            fallback: string[];
            /**
             * Fixes
             * @description how often a model may put right what these commands complain of
             */
            fixes: number;
            /**
             * Forge
             * @description what the remote's host speaks; auto: told by its name
             * @enum {string}
             */
            forge: "auto" | "github" | "gitlab" | "gitea";
            /**
             * Gate
             * @description the command that must pass on the merged result
             */
            gate: string | null;
            /**
             * Gatetimeout
             * @description how long the gate may take
             */
            gateTimeout: number;
            /** Given */
            given: {
                [key: string]: components["schemas"]["GivenShape"];
            };
            /**
             * Hooks
             * @description run the repository's commit hooks when an attempt's result is committed
             */
            hooks: boolean;
            /**
             * Idletimeout
             * @description how long an attempt may go without a sign of life
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
             * @description the agent that puts the results of a contest in order
             */
            judge: string | null;
            /**
             * Keep
             * @description worktrees that are kept for the next tasks once their own have ended
             */
            keep: number;
            /**
             * Keepawake
             * @description keep the machine from sleeping while a batch runs, where the system allows it
             */
            keepAwake: boolean;
            /**
             * Largestfile
             * @description the largest file that a result may hold, since most hosts refuse a push with a larger one; 0: any size
             */
            largestFile: number;
            /**
             * Link
             * @description files and folders of the checkout that each worktree gets a link to
             */
            link: string[];
            /**
             * Location
             * @description the folder that worktrees are made in; none: plait/worktrees in the user's cache folder
             */
            location: string | null;
            /**
             * Maxbatchsize
             * @description attempts at once in one batch; 0: no limit but the engine's; auto: 2 to 5, by plan and machine
             */
            maxBatchSize: number | "auto";
            /**
             * Mode
             * @description many tasks at a time, or in a queue: one at a time, each after approval
             * @enum {string}
             */
            mode: "parallel" | "queue";
            /**
             * Model
             * @description the model of all agents; one of their own under [agents.models] counts before it, unless this was said by a stronger layer
             */
            model: string | null;
            /**
             * Modelchecks
             * @description build, test and lint commands that must pass on what was written, one after another
             */
            modelChecks: string[];
            /**
             * Modelkey
             * @description the environment variable that holds the server's key; none: the server asks for none
             */
            modelKey: string | null;
            /**
             * Modelname
             * @description the model, for jobs that name none; none: what [agents.models] or run.model say
             */
            modelName: string | null;
            /**
             * Models
             * @description the model that each agent uses, for tasks that name none
             */
            models: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** Notes */
            notes: components["schemas"]["Problem"][];
            /**
             * Notifybell
             * @description ring the terminal's bell when a batch that is watched there has ended or needs you
             */
            notifyBell: boolean;
            /**
             * Notifyon
             * @description what you are told of
             */
            notifyOn: ("finished" | "failed" | "cancelled" | "task_failed" | "needs_person" | "limit" | "unpublished")[];
            /**
             * Notifysecret
             * @description the secret itself, in the place of that file: for the variable PLAIT_NOTIFY_SECRET
             */
            notifySecret: string | null;
            /**
             * Notifysecretfile
             * @description the file with the secret that the webhook's signature is made with, which only you may read (mode 600)
             */
            notifySecretFile: string | null;
            /**
             * Notifyurls
             * @description where you are told, as addresses of apprise (slack://…, mailto://…, ntfy://…)
             */
            notifyUrls: string[];
            /**
             * Notifywebhook
             * @description the address that gets each message as JSON, with a signature
             */
            notifyWebhook: string | null;
            /**
             * Order
             * @description which of the tasks that could start goes first
             * @enum {string}
             */
            order: "critical-path" | "quick-first" | "fifo";
            /**
             * Outputlines
             * @description the most lines that a file written by a model may have
             */
            outputLines: number;
            /**
             * Parallellimit
             * @description attempts at once over all batches; 0: no limit; set by nobody: 4, or what an open batch asks for
             */
            parallelLimit: number;
            /**
             * Permissions
             * @description what each agent may do unasked: everything (full), change files only (edits), what its own settings say (own)
             */
            permissions: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /**
             * Phasegate
             * @description the share of the earlier phases that must be done before a phase opens
             */
            phaseGate: number;
            /**
             * Prices
             * @description what models cost, by pattern of their names, for agents that tell only their tokens
             */
            prices: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /**
             * Programs
             * @description what is run for each agent, in the place of its usual program
             */
            programs: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /**
             * Prompt
             * @description the file with the template of prompts, in the place of plait's own; {task}, {rules}, {feedback} … are filled in
             */
            prompt: string | null;
            /**
             * Promptby
             * @description how that command gets the prompt: on its standard input, or from a file; auto: by a file if it names one
             * @enum {string}
             */
            promptBy: "auto" | "stdin" | "file";
            /**
             * Prompts
             * @description the folder with system prompts (_systemprompt_create.md …) in the place of plait's own; none: those beside the jobs
             */
            prompts: string | null;
            /**
             * Queueautoapprove
             * @description in a queue, start the next task without approval
             */
            queueAutoApprove: boolean;
            /**
             * Regenerate
             * @description files that are made anew by a command where two tasks changed them, such as lock files
             */
            regenerate: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /**
             * Remote
             * @description the remote that batch branches are pushed to
             */
            remote: string;
            /**
             * Repairs
             * @description how often an agent may repair one task's conflicts, where on_conflict is repair
             */
            repairs: number;
            /**
             * Replies
             * @description agents that write no files themselves: plait applies what they answer (FILE: path, and a fence)
             */
            replies: string[];
            /**
             * Retries
             * @description how often a failed task is tried again
             */
            retries: number;
            /**
             * Score
             * @description the command that prints a number for each result of a contest: the highest wins
             */
            score: string | null;
            /**
             * Setup
             * @description the command that is run once in a new worktree, before the agent
             */
            setup: string | null;
            /**
             * Setupmakes
             * @description what setup makes, such as node_modules or .venv: kept for the next worktree
             */
            setupMakes: string[];
            /**
             * Setupreads
             * @description the files that the result of setup depends on: while they are the same, it is used again
             */
            setupReads: string[];
            /**
             * Sourcesexclude
             * @description files that no task is read from
             */
            sourcesExclude: string[];
            /**
             * Sourcesfileconflicts
             * @description which files keep two tasks from running at once: also those their texts name, declared ones, or none
             * @enum {string}
             */
            sourcesFileConflicts: "inferred" | "declared" | "off";
            /**
             * Sourcesformat
             * @description the format of these sources; none: each is recognised by its name and content
             */
            sourcesFormat: string | null;
            /**
             * Sourcespaths
             * @description files, folders and globs that tasks are read from; none: the ones found
             */
            sourcesPaths: string[];
            /**
             * Sourcestag
             * @description the tag whose tasks are read, in formats that have tags
             */
            sourcesTag: string;
            /**
             * Sourcesunknownneeds
             * @description what a need on a task that no source knows means: it is done, or the plan fails
             * @enum {string}
             */
            sourcesUnknownNeeds: "done" | "fail";
            /**
             * Sourceswriteback
             * @description where statuses are written to: the checkout, the batch branch, both or neither
             * @enum {string}
             */
            sourcesWriteBack: "checkout" | "branch" | "both" | "off";
            /**
             * Sparse
             * @description the folders that are checked out in worktrees; none: all
             */
            sparse: string[];
            /**
             * Stalltimeout
             * @description how long a server may send nothing at all; loading a model counts
             */
            stallTimeout: number;
            /**
             * Startollama
             * @description start Ollama where it is installed and does not run
             */
            startOllama: boolean;
            /**
             * Stoponfailure
             * @description start nothing more once a task has failed
             */
            stopOnFailure: boolean;
            /**
             * Target
             * @description the branch that a pull request is for; none: the remote's default one
             */
            target: string | null;
            /**
             * Taskbudget
             * @description never start what could take one task over it: 2usd, 100ktok, or one of each
             */
            taskBudget: string | null;
            /**
             * Temperature
             * @description how freely the model writes; none: the server's own
             */
            temperature: number | null;
            /**
             * Timeout
             * @description how long an attempt may take
             */
            timeout: number;
            /**
             * Title
             * @description the title of a pull request; none: made from its tasks
             */
            title: string | null;
            /**
             * Traces
             * @description the OTLP/HTTP address that gets traces of what the engine does; none: that of OTEL_EXPORTER_OTLP_ENDPOINT
             */
            traces: string | null;
            /**
             * Transcriptcap
             * @description the most that is kept of what one attempt prints: of a longer transcript, the beginning and the end
             */
            transcriptCap: number;
            /**
             * Union
             * @description files of which a merge keeps the lines of both sides, such as CHANGELOG.md
             */
            union: string[];
            /**
             * Verify
             * @description the command that must pass in a task's workspace before the task counts
             */
            verify: string | null;
            /**
             * Verifymodel
             * @description the model that judges; none: the one that wrote
             */
            verifyModel: string | null;
            /**
             * Verifyreplies
             * @description have a second prompt judge what was written, where a job does not say otherwise
             */
            verifyReplies: boolean;
            /**
             * Verifytimeout
             * @description how long verification may take
             */
            verifyTimeout: number;
            /**
             * Whendone
             * @description what is done with the batch branch at the end: ask on a terminal (elsewhere nothing), nothing (off), push it, or push it and open a pull request (draft: as a draft)
             * @enum {string}
             */
            whenDone: "ask" | "off" | "push" | "pr" | "draft";
        };
        /**
         * ConflictFile
         * @description `ours` is the batch branch's, `theirs` the task's, `merged` has both between markers. Null: it is not there on that
         *     side, or it is `binary`, or its name is in `cut`, since it is too long. `touchedBy` are the tasks whose change of it is
         *     on the branch, the newest first; `said` is git's word on it.
         */
        ConflictFile: {
            /** Base */
            base: string | null;
            /** Binary */
            binary: boolean;
            /** Cut */
            cut: ("base" | "ours" | "theirs" | "merged")[];
            kind: components["schemas"]["ConflictKind"];
            /** Merged */
            merged: string | null;
            /** Ours */
            ours: string | null;
            /** Path */
            path: string;
            /** Said */
            said: string;
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
         * ConflictMet
         * @description `with` is the commit of the batch branch that it was to be put onto.
         */
        ConflictMet: {
            /** Files */
            files: string[];
            /** With */
            with: string;
        };
        /**
         * ConflictShape
         * @description `with` is the commit of the batch branch that the change from `base` to `tip` was to be put onto. `more`: so many
         *     files are not told.
         */
        ConflictShape: {
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
         * ContestBody
         * @description Every task by each of these agents, each so often: the best result is merged. `agents` left out: those of the settings.
         */
        ContestBody: {
            /** Agents */
            agents?: string[] | null;
            /**
             * Times
             * @default 1
             */
            times?: number;
        };
        /** ContestShape */
        ContestShape: {
            /** Entrants */
            entrants: components["schemas"]["Entrant"][];
            /** Why */
            why: string | null;
        };
        /** Cost */
        Cost: {
            /** Tokens */
            tokens: number;
            /** Usd */
            usd: number;
        };
        /**
         * Created
         * @description `problems` are warnings. `accepted`: it is safe, and no engine has taken it yet.
         */
        Created: {
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
            problems: components["schemas"]["Problem"][];
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
         * DiffFormat
         * @enum {string}
         */
        DiffFormat: "text" | "json";
        /**
         * DiffShape
         * @description `cut`: the text is longer than this; it can be had whole as text. `tip` null: files that are being written.
         */
        DiffShape: {
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
            /** Taskid */
            taskId: string | null;
            /** Tip */
            tip: string | null;
        };
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
         * @description `from` is done before `to` starts.
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
         * EngineSeen
         * @description `trouble`: what keeps it from going on, such as a disk without room; null if nothing does.
         */
        EngineSeen: {
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
         * Entry
         * @description What an attempt said (`text`), or how much of that was left out (`bytes`).
         */
        Entry: {
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
         * Error
         * @description `field` is what is wrong with what was sent; `state` the state that something is in, and should not be.
         */
        Error: {
            /** Error */
            error: string;
            /**
             * Field
             * @description The field of the body or the query that can't be so, as `settings.budget`
             */
            field: string | null;
            /** Hint */
            hint: string | null;
            /** Problems */
            problems: components["schemas"]["Wrong"][] | null;
            /**
             * State
             * @description The state that is in the way
             */
            state: string | null;
        };
        /**
         * EventShape
         * @description The first six are always there; of the others, those that docs/events.md has for this `type`, and there may be more.
         */
        EventShape: {
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
            entry?: components["schemas"]["Entry"] | null;
            /** Error */
            error?: string | null;
            /** Files */
            files?: string[] | null;
            /** Hint */
            hint?: string | null;
            /** Offset */
            offset?: number | null;
            on?: components["schemas"]["Waiting"] | null;
            /** Percentage */
            percentage?: number | null;
            /** Phase */
            phase?: string | null;
            /** Prurl */
            prUrl?: string | null;
            /** Provider */
            provider?: string | null;
            /** Publishing */
            publishing?: ("started" | "done" | "failed") | null;
            /** Question */
            question?: string | null;
            /** Reason */
            reason?: string | null;
            /** Retryat */
            retryAt?: string | null;
            /** Seq */
            seq: number | null;
            step?: components["schemas"]["Step"] | null;
            /** Taskid */
            taskId: string | null;
            /** Title */
            title?: string | null;
            type: components["schemas"]["EventType"];
            /** Until */
            until?: string | null;
            /** Why */
            why?: string | null;
        } & {
            [key: string]: unknown;
        };
        /**
         * EventType
         * @description The whole vocabulary. The words are relied upon.
         * @enum {string}
         */
        EventType: "batch:created" | "batch:started" | "batch:progress" | "batch:paused" | "batch:unpaused" | "batch:merging" | "batch:gating" | "batch:completed" | "batch:failed" | "batch:cancelled" | "batch:jobs" | "batch:contest" | "batch:task:queued" | "batch:task:waiting" | "batch:task:started" | "batch:task:phase" | "batch:task:needs_input" | "batch:task:verifying" | "batch:task:verified" | "batch:task:merged" | "batch:task:conflicted" | "batch:task:completed" | "batch:task:failed" | "batch:task:timed_out" | "batch:task:blocked" | "batch:task:skipped" | "batch:task:cancelled" | "batch:task:interrupted" | "batch:task:retry" | "limit:opened" | "limit:closed" | "engine:taken" | "engine:released" | "execution:log";
        /**
         * Explanation
         * @description `way`: what would make it go on, in words.
         */
        Explanation: {
            /** Attempts */
            attempts: components["schemas"]["Try"][];
            /** Batchid */
            batchId: string;
            conflict: components["schemas"]["ConflictMet"] | null;
            contest: components["schemas"]["ContestShape"] | null;
            /** Needs */
            needs: components["schemas"]["NeedStanding"][];
            /** Reason */
            reason: string;
            result: components["schemas"]["ResultShape"] | null;
            /** Source */
            source: string | null;
            status: components["schemas"]["TaskStatus"];
            /** Taskid */
            taskId: string;
            /** Title */
            title: string;
            waiting: components["schemas"]["Waiting"] | null;
            /** Way */
            way: string;
        };
        /** FeedbackBody */
        FeedbackBody: {
            /** Text */
            text: string;
        };
        /**
         * Foreseen
         * @description A conflict to come; `taskId` null: with the batch branch.
         */
        Foreseen: {
            /** Files */
            files: string[];
            /** Taskid */
            taskId: string | null;
        };
        /**
         * GateSeen
         * @description `passed` null: it is at work, or its end is not known.
         */
        GateSeen: {
            /** Commit */
            commit: string;
            /** Gate */
            gate: number;
            /** Passed */
            passed: boolean | null;
        };
        /**
         * GivenShape
         * @description `hidden`: something is saved, and a stronger layer counts. `problem`: what is saved can't be read.
         */
        GivenShape: {
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
        /** GraphShape */
        GraphShape: {
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
            /** Waves */
            waves: string[][];
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
         * Isolation
         * @enum {string}
         */
        Isolation: "worktree" | "in-place";
        JsonValue: unknown;
        /**
         * Layer
         * @description Who may give a value, the weakest first; the values are what `plait config --json` shows.
         * @enum {string}
         */
        Layer: "default" | "user" | "repository" | "saved" | "environment" | "flag";
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
        /** Login */
        Login: {
            /** By */
            by: string | null;
            /** How */
            how: string | null;
            loggedIn: components["schemas"]["LoggedIn"];
        };
        /**
         * Mark
         * @description How far a task is, as its source tells it; the values are what people and programs see.
         * @enum {string}
         */
        Mark: "pending" | "in_progress" | "completed" | "skipped" | "failed" | "blocked" | "partial" | "stuck" | "unreadable";
        /**
         * Me
         * @description `access`: everything, or only looking. `by`: how they came in; null: nobody was asked. `page` changes with the page that
         *     is served; null: it was not built.
         */
        Me: {
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
         * Mode
         * @enum {string}
         */
        Mode: "parallel" | "queue";
        /**
         * NeedKind
         * @description An entrant is waited for until it has ended, however: a contest goes on with those that passed.
         * @enum {string}
         */
        NeedKind: "need" | "chain" | "entrant";
        /**
         * NeedShape
         * @description `at` is where it was said: `file:line`.
         */
        NeedShape: {
            /** At */
            at: string | null;
            /** Id */
            id: string;
            kind: components["schemas"]["NeedKind"];
            /** Reason */
            reason: string;
        };
        /**
         * NeedStanding
         * @description `status` null: it is not in this batch.
         */
        NeedStanding: {
            /** At */
            at: string | null;
            /** Id */
            id: string;
            kind: components["schemas"]["NeedKind"];
            /** Reason */
            reason: string;
            status: components["schemas"]["TaskStatus"] | null;
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
         * @description `rank`: seconds of the longest path from its start to the end.
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
            status: components["schemas"]["TaskStatus"];
            /** Taskid */
            taskId: string;
            /** Title */
            title: string;
            /** Touches */
            touches: string[];
            waiting: components["schemas"]["Waiting"] | null;
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
         * @description `accepted`: it is safe, and no engine has answered yet.
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
        /** PhaseShape */
        PhaseShape: {
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
        /**
         * PlanBody
         * @description `taskIds` left out: every task that is not complete. All else as for a new batch.
         */
        PlanBody: {
            contest?: components["schemas"]["ContestBody"] | null;
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
         * PlanShape
         * @description As `plan --json`. Without a plan there are no tasks, and the problems say why; with one and an error, it can't be
         *     started now. `eta` (in seconds) and `cost` are told where history knows them.
         */
        PlanShape: {
            /** Conflicts */
            conflicts: components["schemas"]["SharedFile"][];
            cost: components["schemas"]["Cost"] | null;
            /** Criticalpath */
            criticalPath: string[];
            /** Eta */
            eta: number | null;
            /** Phases */
            phases: components["schemas"]["PhaseShape"][];
            /** Problems */
            problems: components["schemas"]["Problem"][];
            /** Tasks */
            tasks: components["schemas"]["PlanTask"][];
            /** Waves */
            waves: string[][];
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
            needs: components["schemas"]["NeedShape"][];
            /** Phase */
            phase: string | null;
            /** Source */
            source: string | null;
            status: components["schemas"]["Mark"];
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
         * Preferences
         * @description Every setting by its name, and under `given` who gave it. Lengths of time in seconds, sizes in bytes.
         */
        Preferences: {
            /**
             * Accounts
             * @description whose rate limits each agent runs into; agents with the same account are held back together
             */
            accounts: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /**
             * Agent
             * @description the agents for tasks that name none, who share the work; none: the first one available
             */
            agent: string[];
            /**
             * Agentcommand
             * @description the command that is run as the agent; {task_file}, {prompt_file}, {task_id}, {title} … are filled in
             */
            agentCommand: string | null;
            /**
             * Agentlimits
             * @description attempts at once of one agent, for each agent named; 0: no limit
             */
            agentLimits: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /**
             * Agentshell
             * @description give that command to a shell as one line, instead of splitting it into words
             */
            agentShell: boolean;
            /**
             * Args
             * @description further words for each agent's command line
             */
            args: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /**
             * Base
             * @description the commit that a batch with worktrees starts from; none: the one that is checked out
             */
            base: string | null;
            /**
             * Baseurl
             * @description the server: Ollama's, or any that speaks as OpenAI's does, up to and with its /v1
             */
            baseUrl: string;
            /**
             * Budget
             * @description never start what could take the batch over it: 20usd, 500ktok, or one of each
             */
            budget: string | null;
            /**
             * Conflictbehavior
             * @description what a merge conflict means: leave the task out, stop the batch, or have an agent repair it
             * @enum {string}
             */
            conflictBehavior: "skip" | "fail" | "repair";
            /**
             * Contextlines
             * @description the most lines of files that a job's context may have
             */
            contextLines: number;
            /**
             * Contexttokens
             * @description the most that a prompt's files take, in tokens, as far as that can be told; what does not fit is left out
             */
            contextTokens: number;
            /**
             * Copy
             * @description ignored files of the checkout that each worktree gets a copy of, beside those that .worktreeinclude names
             */
            copy: string[];
            /**
             * Diskcap
             * @description the most disk that worktrees of this repository may take: above it, no task starts in a new one
             */
            diskCap: number;
            /**
             * Fallback
             * @description the agents that take over while the provider of a task's own refuses; none: its tasks wait
             */
            fallback: string[];
            /**
             * Fixes
             * @description how often a model may put right what these commands complain of
             */
            fixes: number;
            /**
             * Forge
             * @description what the remote's host speaks; auto: told by its name
             * @enum {string}
             */
            forge: "auto" | "github" | "gitlab" | "gitea";
            /**
             * Gate
             * @description the command that must pass on the merged result
             */
            gate: string | null;
            /**
             * Gatetimeout
             * @description how long the gate may take
             */
            gateTimeout: number;
            /** Given */
            given: {
                [key: string]: components["schemas"]["GivenShape"];
            };
            /**
             * Hooks
             * @description run the repository's commit hooks when an attempt's result is committed
             */
            hooks: boolean;
            /**
             * Idletimeout
             * @description how long an attempt may go without a sign of life
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
             * @description the agent that puts the results of a contest in order
             */
            judge: string | null;
            /**
             * Keep
             * @description worktrees that are kept for the next tasks once their own have ended
             */
            keep: number;
            /**
             * Keepawake
             * @description keep the machine from sleeping while a batch runs, where the system allows it
             */
            keepAwake: boolean;
            /**
             * Largestfile
             * @description the largest file that a result may hold, since most hosts refuse a push with a larger one; 0: any size
             */
            largestFile: number;
            /**
             * Link
             * @description files and folders of the checkout that each worktree gets a link to
             */
            link: string[];
            /**
             * Location
             * @description the folder that worktrees are made in; none: plait/worktrees in the user's cache folder
             */
            location: string | null;
            /**
             * Maxbatchsize
             * @description attempts at once in one batch; 0: no limit but the engine's; auto: 2 to 5, by plan and machine
             */
            maxBatchSize: number | "auto";
            /**
             * Mode
             * @description many tasks at a time, or in a queue: one at a time, each after approval
             * @enum {string}
             */
            mode: "parallel" | "queue";
            /**
             * Model
             * @description the model of all agents; one of their own under [agents.models] counts before it, unless this was said by a stronger layer
             */
            model: string | null;
            /**
             * Modelchecks
             * @description build, test and lint commands that must pass on what was written, one after another
             */
            modelChecks: string[];
            /**
             * Modelkey
             * @description the environment variable that holds the server's key; none: the server asks for none
             */
            modelKey: string | null;
            /**
             * Modelname
             * @description the model, for jobs that name none; none: what [agents.models] or run.model say
             */
            modelName: string | null;
            /**
             * Models
             * @description the model that each agent uses, for tasks that name none
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
             * @description what you are told of
             */
            notifyOn: ("finished" | "failed" | "cancelled" | "task_failed" | "needs_person" | "limit" | "unpublished")[];
            /**
             * Notifysecret
             * @description the secret itself, in the place of that file: for the variable PLAIT_NOTIFY_SECRET
             */
            notifySecret: string | null;
            /**
             * Notifysecretfile
             * @description the file with the secret that the webhook's signature is made with, which only you may read (mode 600)
             */
            notifySecretFile: string | null;
            /**
             * Notifyurls
             * @description where you are told, as addresses of apprise (slack://…, mailto://…, ntfy://…)
             */
            notifyUrls: string[];
            /**
             * Notifywebhook
             * @description the address that gets each message as JSON, with a signature
             */
            notifyWebhook: string | null;
            /**
             * Order
             * @description which of the tasks that could start goes first
             * @enum {string}
             */
            order: "critical-path" | "quick-first" | "fifo";
            /**
             * Outputlines
             * @description the most lines that a file written by a model may have
             */
            outputLines: number;
            /**
             * Parallellimit
             * @description attempts at once over all batches; 0: no limit; set by nobody: 4, or what an open batch asks for
             */
            parallelLimit: number;
            /**
             * Permissions
             * @description what each agent may do unasked: everything (full), change files only (edits), what its own settings say (own)
             */
            permissions: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /**
             * Phasegate
             * @description the share of the earlier phases that must be done before a phase opens
             */
            phaseGate: number;
            /**
             * Prices
             * @description what models cost, by pattern of their names, for agents that tell only their tokens
             */
            prices: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /**
             * Programs
             * @description what is run for each agent, in the place of its usual program
             */
            programs: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /**
             * Prompt
             * @description the file with the template of prompts, in the place of plait's own; {task}, {rules}, {feedback} … are filled in
             */
            prompt: string | null;
            /**
             * Promptby
             * @description how that command gets the prompt: on its standard input, or from a file; auto: by a file if it names one
             * @enum {string}
             */
            promptBy: "auto" | "stdin" | "file";
            /**
             * Prompts
             * @description the folder with system prompts (_systemprompt_create.md …) in the place of plait's own; none: those beside the jobs
             */
            prompts: string | null;
            /**
             * Queueautoapprove
             * @description in a queue, start the next task without approval
             */
            queueAutoApprove: boolean;
            /**
             * Regenerate
             * @description files that are made anew by a command where two tasks changed them, such as lock files
             */
            regenerate: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /**
             * Remote
             * @description the remote that batch branches are pushed to
             */
            remote: string;
            /**
             * Repairs
             * @description how often an agent may repair one task's conflicts, where on_conflict is repair
             */
            repairs: number;
            /**
             * Replies
             * @description agents that write no files themselves: plait applies what they answer (FILE: path, and a fence)
             */
            replies: string[];
            /**
             * Retries
             * @description how often a failed task is tried again
             */
            retries: number;
            /**
             * Score
             * @description the command that prints a number for each result of a contest: the highest wins
             */
            score: string | null;
            /**
             * Setup
             * @description the command that is run once in a new worktree, before the agent
             */
            setup: string | null;
            /**
             * Setupmakes
             * @description what setup makes, such as node_modules or .venv: kept for the next worktree
             */
            setupMakes: string[];
            /**
             * Setupreads
             * @description the files that the result of setup depends on: while they are the same, it is used again
             */
            setupReads: string[];
            /**
             * Sourcesexclude
             * @description files that no task is read from
             */
            sourcesExclude: string[];
            /**
             * Sourcesfileconflicts
             * @description which files keep two tasks from running at once: also those their texts name, declared ones, or none
             * @enum {string}
             */
            sourcesFileConflicts: "inferred" | "declared" | "off";
            /**
             * Sourcesformat
             * @description the format of these sources; none: each is recognised by its name and content
             */
            sourcesFormat: string | null;
            /**
             * Sourcespaths
             * @description files, folders and globs that tasks are read from; none: the ones found
             */
            sourcesPaths: string[];
            /**
             * Sourcestag
             * @description the tag whose tasks are read, in formats that have tags
             */
            sourcesTag: string;
            /**
             * Sourcesunknownneeds
             * @description what a need on a task that no source knows means: it is done, or the plan fails
             * @enum {string}
             */
            sourcesUnknownNeeds: "done" | "fail";
            /**
             * Sourceswriteback
             * @description where statuses are written to: the checkout, the batch branch, both or neither
             * @enum {string}
             */
            sourcesWriteBack: "checkout" | "branch" | "both" | "off";
            /**
             * Sparse
             * @description the folders that are checked out in worktrees; none: all
             */
            sparse: string[];
            /**
             * Stalltimeout
             * @description how long a server may send nothing at all; loading a model counts
             */
            stallTimeout: number;
            /**
             * Startollama
             * @description start Ollama where it is installed and does not run
             */
            startOllama: boolean;
            /**
             * Stoponfailure
             * @description start nothing more once a task has failed
             */
            stopOnFailure: boolean;
            /**
             * Target
             * @description the branch that a pull request is for; none: the remote's default one
             */
            target: string | null;
            /**
             * Taskbudget
             * @description never start what could take one task over it: 2usd, 100ktok, or one of each
             */
            taskBudget: string | null;
            /**
             * Temperature
             * @description how freely the model writes; none: the server's own
             */
            temperature: number | null;
            /**
             * Timeout
             * @description how long an attempt may take
             */
            timeout: number;
            /**
             * Title
             * @description the title of a pull request; none: made from its tasks
             */
            title: string | null;
            /**
             * Traces
             * @description the OTLP/HTTP address that gets traces of what the engine does; none: that of OTEL_EXPORTER_OTLP_ENDPOINT
             */
            traces: string | null;
            /**
             * Transcriptcap
             * @description the most that is kept of what one attempt prints: of a longer transcript, the beginning and the end
             */
            transcriptCap: number;
            /**
             * Union
             * @description files of which a merge keeps the lines of both sides, such as CHANGELOG.md
             */
            union: string[];
            /**
             * Verify
             * @description the command that must pass in a task's workspace before the task counts
             */
            verify: string | null;
            /**
             * Verifymodel
             * @description the model that judges; none: the one that wrote
             */
            verifyModel: string | null;
            /**
             * Verifyreplies
             * @description have a second prompt judge what was written, where a job does not say otherwise
             */
            verifyReplies: boolean;
            /**
             * Verifytimeout
             * @description how long verification may take
             */
            verifyTimeout: number;
            /**
             * Whendone
             * @description what is done with the batch branch at the end: ask on a terminal (elsewhere nothing), nothing (off), push it, or push it and open a pull request (draft: as a draft)
             * @enum {string}
             */
            whenDone: "ask" | "off" | "push" | "pr" | "draft";
        };
        /**
         * PreferencesPatch
         * @description Values by the names of GET /api/settings; null forgets what was saved.
         */
        PreferencesPatch: {
            [key: string]: components["schemas"]["JsonValue"];
        };
        /** PreferencesSchema */
        PreferencesSchema: {
            /** Settings */
            settings: components["schemas"]["SettingShape"][];
            /** Tables */
            tables: {
                [key: string]: string;
            };
        };
        /**
         * Problem
         * @description What is wrong, where, and the way out.
         */
        Problem: {
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
         * @description The counts sum to `total`.
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
         * @description Either of them: a checkout on the server's machine by its whole path, or a repository by its URL.
         */
        ProjectBody: {
            /** Path */
            path?: string | null;
            /** Url */
            url?: string | null;
        };
        /**
         * ProjectShape
         * @description `url` null: a checkout on the server's machine. `default`: the one that is meant where none is named.
         */
        ProjectShape: {
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
            projects: components["schemas"]["ProjectShape"][];
        };
        /**
         * Publish
         * @description What becomes of a batch branch when everything else is over: nothing, a push, a pull request, a draft of one.
         * @enum {string}
         */
        Publish: "off" | "push" | "pr" | "draft";
        /**
         * PullRequest
         * @description `title` and `body` are what would be sent now, `own` what plait would write by itself. `target` null: only the
         *     remote knows it. `shipped`: the branch is published as it is. `why` says why no pull request can be opened, as far
         *     as that can be told without a network; with `canPush`, the branch can be pushed all the same.
         */
        PullRequest: {
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
            own: components["schemas"]["PullText"];
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
        /** PullText */
        PullText: {
            /** Body */
            body: string;
            /** Title */
            title: string;
        };
        /**
         * Result
         * @description `status` and `reason` are what is so now; of a refusal, `reason` says why. `tasks` are all that were taken up.
         */
        Result: {
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
        /** ResultShape */
        ResultShape: {
            /** Branch */
            branch: string | null;
            /** Commit */
            commit: string | null;
            /** Files */
            files: string[];
            gate: components["schemas"]["GateSeen"] | null;
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
         * RetryBody
         * @description `agent`: another one is to try.
         */
        RetryBody: {
            /** Agent */
            agent?: string | null;
        };
        /**
         * RetryShape
         * @description Only a counted one uses up a retry.
         */
        RetryShape: {
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
         * Run
         * @description Where it stands in the newest batch that has it; `taskId` is what that batch calls it.
         *
         *     `needsYou`: it waits for an answer, an approval or a decision. `review`: it is done, and its batch branch not shipped.
         */
        Run: {
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
            /** Shipped */
            shipped: boolean;
            /** Startedat */
            startedAt: string | null;
            status: components["schemas"]["TaskStatus"];
            /** Taskid */
            taskId: string;
            waiting: components["schemas"]["Waiting"] | null;
        };
        /**
         * SettingShape
         * @description `kind` says which field of a form fits; `allowed` says in words what may be said.
         */
        SettingShape: {
            /** About */
            about: string;
            /** Allowed */
            allowed: string;
            /** Canbesaved */
            canBeSaved: boolean;
            /** Choices */
            choices: string[];
            default: components["schemas"]["JsonValue"];
            /** Key */
            key: string;
            /**
             * Kind
             * @enum {string}
             */
            kind: "text" | "switch" | "table" | "duration" | "size" | "amount" | "number" | "choice" | "choices" | "list";
            /** Name */
            name: string;
            /** Table */
            table: string;
            /** Variable */
            variable: string;
        };
        /**
         * Severity
         * @enum {string}
         */
        Severity: "error" | "warning" | "info";
        /**
         * SharedFile
         * @description Its tasks run one after another.
         */
        SharedFile: {
            /** File */
            file: string;
            /** Tasks */
            tasks: string[];
        };
        /**
         * ShipBody
         * @description A pull request, a draft of one, or only a push. `title` and `body` are for the pull request, now and from now on:
         *     left out, they stay as they were said last; what plait would write by itself, and an empty body, is left to plait.
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
         * Shipped
         * @description `underWay`: BATCH has `prUrl` when it is over.
         */
        Shipped: {
            /** Batchid */
            batchId: string;
            /** Branch */
            branch: string | null;
            /** Commit */
            commit: string | null;
            /** Prurl */
            prUrl: string | null;
            /** Results */
            results: components["schemas"]["Result"][];
            /** Underway */
            underWay: boolean;
            /** Unshipped */
            unshipped: string | null;
        };
        /**
         * SourceTask
         * @description `parts`: it is a group of these. `notEditable` says why it can't be edited here.
         */
        SourceTask: {
            /** Agent */
            agent: string | null;
            batch: components["schemas"]["Run"] | null;
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
            needs: components["schemas"]["NeedShape"][];
            /** Noteditable */
            notEditable: string | null;
            /** Parts */
            parts: string[];
            /** Phase */
            phase: string | null;
            /** Priority */
            priority: number;
            /** Run */
            run: string | null;
            /** Source */
            source: string | null;
            status: components["schemas"]["Mark"];
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
         * SpanKind
         * @enum {string}
         */
        SpanKind: "write" | "verify" | "merge" | "gate" | "pause" | "rebuild" | "publish";
        /**
         * SpanShape
         * @description `completedAt` null: it is not over. `result` of an attempt is its category.
         */
        SpanShape: {
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
         * Standing
         * @description Of `tasks`, those that were asked for.
         */
        Standing: {
            batch: components["schemas"]["BatchHead"];
            /** Tasks */
            tasks: components["schemas"]["Run"][];
        };
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
        TaskAction: "cancel" | "retry" | "drop" | "approve" | "feedback";
        /**
         * TaskEdit
         * @description `version` is the one that was read: what somebody else has changed since is not written over.
         *
         *     `text` is the whole file, and stands alone.
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
        /**
         * TaskStatus
         * @enum {string}
         */
        TaskStatus: "queued" | "waiting" | "running" | "verifying" | "merging" | "done" | "failed" | "timed_out" | "blocked" | "skipped" | "conflicted" | "cancelled" | "interrupted";
        /**
         * TaskTimeline
         * @description `status` null: it has not ended. `waits`: when nothing of it was at work.
         */
        TaskTimeline: {
            /** Retries */
            retries: components["schemas"]["RetryShape"][];
            /** Spans */
            spans: components["schemas"]["SpanShape"][];
            status: components["schemas"]["TaskStatus"] | null;
            /** Taskid */
            taskId: string;
            /** Title */
            title: string;
            /** Waits */
            waits: components["schemas"]["Wait"][];
        };
        /** Tasks */
        Tasks: {
            /** Problems */
            problems: components["schemas"]["Problem"][];
            /** Tasks */
            tasks: components["schemas"]["SourceTask"][];
        };
        /**
         * TimelineShape
         * @description `spans` are the batch's own: gates, pauses, rebuilds, publishing.
         */
        TimelineShape: {
            /** Batchid */
            batchId: string;
            /** Completedat */
            completedAt: string | null;
            /** Spans */
            spans: components["schemas"]["SpanShape"][];
            /** Startedat */
            startedAt: string | null;
            /** Tasks */
            tasks: components["schemas"]["TaskTimeline"][];
        };
        /**
         * Try
         * @description `completedAt` null: it is at work.
         */
        Try: {
            /** Agent */
            agent: string;
            /** Attempt */
            attempt: number;
            category: components["schemas"]["Category"] | null;
            /** Completedat */
            completedAt: string | null;
            /** Detail */
            detail: string | null;
            endedFor: components["schemas"]["EndWhy"] | null;
            /** Exitcode */
            exitCode: number | null;
            /** Retriedfor */
            retriedFor: string | null;
            /** Startedat */
            startedAt: string;
            step: components["schemas"]["Step"];
        };
        /** Wait */
        Wait: {
            /** Completedat */
            completedAt: string | null;
            /** Startedat */
            startedAt: string;
        };
        /**
         * Waiting
         * @description What a task waits on, in a word that programs can read.
         * @enum {string}
         */
        Waiting: "needs" | "phase" | "files" | "backoff" | "answer" | "approval" | "pause" | "budget" | "limit" | "memory" | "branch" | "turn" | "slot";
        /**
         * WholeTask
         * @description `text` is all of its file, and `version` the one that an edit goes by; null where it can't be edited.
         */
        WholeTask: {
            /** Agent */
            agent: string | null;
            batch: components["schemas"]["Run"] | null;
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
            needs: components["schemas"]["NeedShape"][];
            /** Noteditable */
            notEditable: string | null;
            /** Parts */
            parts: string[];
            /** Phase */
            phase: string | null;
            /** Priority */
            priority: number;
            /** Problems */
            problems: components["schemas"]["Problem"][];
            /** Run */
            run: string | null;
            /** Source */
            source: string | null;
            status: components["schemas"]["Mark"];
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
        /**
         * WriteBack
         * @description Where a batch's statuses are written into its sources: the user's checkout, the batch branch, both, nowhere.
         * @enum {string}
         */
        WriteBack: "checkout" | "branch" | "both" | "off";
        /**
         * Wrong
         * @description `field` null: no single one is to blame.
         */
        Wrong: {
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
                /** @description The project that is meant; none: the one served */
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
            /** @description It can't be understood */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or not the token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It is not there */
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
            /** @description Not in this state; `state` says in which it is */
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
            /** @description The address is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The server does not go by this name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It can't be so; `field` says what */
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
            /** @description A bug; it is in the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait is in the way: the disk, git, the journal */
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
                /** @description So many of the newest */
                limit?: number;
                /** @description false: without their tasks */
                tasks?: boolean;
                /** @description true: and older ones that are open */
                open?: boolean;
                /** @description The project that is meant; none: the one served */
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
                    /** @description For Last-Event-ID: whoever listens from it on misses nothing that this does not show */
                    "Plait-Mark"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Batches"];
                };
            };
            /** @description It can't be understood */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or not the token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It is not there */
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
            /** @description The address is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The server does not go by this name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It can't be so; `field` says what */
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
            /** @description A bug; it is in the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait is in the way: the disk, git, the journal */
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
                /** @description The project that is meant; none: the one served */
                project?: string | null;
            };
            header?: {
                /** @description Whoever asks again with the same key is answered, and nothing is done twice */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BatchBody"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Created"];
                };
            };
            /** @description It is safe, and no engine has taken it yet */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Created"];
                };
            };
            /** @description It can't be understood */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or not the token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It is not there */
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
            /** @description Not in this state; `state` says in which it is */
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
            /** @description The address is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The server does not go by this name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It can't be so; `field` says what */
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
            /** @description A bug; it is in the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait is in the way: the disk, git, the journal */
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
                /** @description The project that is meant; none: the one served */
                project?: string | null;
            };
            header?: never;
            path: {
                /** @description A batch's id, or the beginning of one that no other has */
                batch_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    /** @description For Last-Event-ID: whoever listens from it on misses nothing that this does not show */
                    "Plait-Mark"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Batch"];
                };
            };
            /** @description It can't be understood */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or not the token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It is not there */
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
            /** @description Not in this state; `state` says in which it is */
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
            /** @description The address is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The server does not go by this name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It can't be so; `field` says what */
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
            /** @description A bug; it is in the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait is in the way: the disk, git, the journal */
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
                /** @description The project that is meant; none: the one served */
                project?: string | null;
            };
            header?: {
                /** @description Whoever asks again with the same key is answered, and nothing is done twice */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description A batch's id, or the beginning of one that no other has */
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
                    "application/json": components["schemas"]["Answered"];
                };
            };
            /** @description It is safe, and no engine has answered yet */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answered"];
                };
            };
            /** @description It can't be understood */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or not the token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It is not there */
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
            /** @description Not in this state; `state` says in which it is */
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
            /** @description The address is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The server does not go by this name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It can't be so; `field` says what */
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
            /** @description A bug; it is in the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait is in the way: the disk, git, the journal */
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
                /** @description The project that is meant; none: the one served */
                project?: string | null;
            };
            header?: {
                /** @description Whoever asks again with the same key is answered, and nothing is done twice */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description A batch's id, or the beginning of one that no other has */
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
                    "application/json": components["schemas"]["Answered"];
                };
            };
            /** @description It is safe, and no engine has answered yet */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answered"];
                };
            };
            /** @description It can't be understood */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or not the token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It is not there */
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
            /** @description Not in this state; `state` says in which it is */
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
            /** @description The address is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The server does not go by this name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It can't be so; `field` says what */
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
            /** @description A bug; it is in the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait is in the way: the disk, git, the journal */
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
                /** @description The project that is meant; none: the one served */
                project?: string | null;
            };
            header?: never;
            path: {
                /** @description A batch's id, or the beginning of one that no other has */
                batch_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description As `git diff` tells it, or as JSON */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DiffShape"];
                    "text/plain; charset=utf-8": string;
                };
            };
            /** @description It can't be understood */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or not the token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It is not there */
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
            /** @description Not in this state; `state` says in which it is */
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
            /** @description The address is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The server does not go by this name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It can't be so; `field` says what */
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
            /** @description A bug; it is in the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait is in the way: the disk, git, the journal */
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
                /** @description The project that is meant; none: the one served */
                project?: string | null;
            };
            header?: never;
            path: {
                /** @description A batch's id, or the beginning of one that no other has */
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
                    "application/json": components["schemas"]["GraphShape"];
                };
            };
            /** @description It can't be understood */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or not the token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It is not there */
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
            /** @description Not in this state; `state` says in which it is */
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
            /** @description The address is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The server does not go by this name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It can't be so; `field` says what */
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
            /** @description A bug; it is in the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait is in the way: the disk, git, the journal */
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
                /** @description A byte's offset; below 0: so many before the end */
                from?: number;
                /** @description Bytes at a time */
                limit?: number;
                /** @description The project that is meant; none: the one served */
                project?: string | null;
            };
            header?: never;
            path: {
                /** @description A batch's id, or the beginning of one that no other has */
                batch_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A part of the transcript in whole lines, without secrets */
            200: {
                headers: {
                    /** @description Nothing comes after it */
                    "Plait-Ended"?: boolean;
                    /** @description Which gate's it is */
                    "Plait-Gate"?: number;
                    /** @description Where the next part starts */
                    "Plait-Next"?: number;
                    /** @description Where this part starts: later than asked for, where something was left out */
                    "Plait-Offset"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "text/plain; charset=utf-8": string;
                };
            };
            /** @description It can't be understood */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or not the token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It is not there */
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
            /** @description Not in this state; `state` says in which it is */
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
            /** @description The address is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The server does not go by this name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It can't be so; `field` says what */
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
            /** @description A bug; it is in the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait is in the way: the disk, git, the journal */
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
                /** @description The project that is meant; none: the one served */
                project?: string | null;
            };
            header?: {
                /** @description Whoever asks again with the same key is answered, and nothing is done twice */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description A batch's id, or the beginning of one that no other has */
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
                    "application/json": components["schemas"]["Answered"];
                };
            };
            /** @description It is safe, and no engine has answered yet */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answered"];
                };
            };
            /** @description It can't be understood */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or not the token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It is not there */
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
            /** @description Not in this state; `state` says in which it is */
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
            /** @description The address is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The server does not go by this name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It can't be so; `field` says what */
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
            /** @description A bug; it is in the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait is in the way: the disk, git, the journal */
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
                /** @description The project that is meant; none: the one served */
                project?: string | null;
            };
            header?: never;
            path: {
                /** @description A batch's id, or the beginning of one that no other has */
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
                    "application/json": components["schemas"]["PullRequest"];
                };
            };
            /** @description It can't be understood */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or not the token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It is not there */
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
            /** @description Not in this state; `state` says in which it is */
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
            /** @description The address is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The server does not go by this name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It can't be so; `field` says what */
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
            /** @description A bug; it is in the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait is in the way: the disk, git, the journal */
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
                /** @description The project that is meant; none: the one served */
                project?: string | null;
            };
            header?: {
                /** @description Whoever asks again with the same key is answered, and nothing is done twice */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description A batch's id, or the beginning of one that no other has */
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
                    "application/json": components["schemas"]["Shipped"];
                };
            };
            /** @description It is under way, or safe and not answered yet */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Shipped"];
                };
            };
            /** @description It can't be understood */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or not the token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It is not there */
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
            /** @description Not in this state; `state` says in which it is */
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
            /** @description The address is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The server does not go by this name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It can't be so; `field` says what */
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
            /** @description A bug; it is in the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait is in the way: the disk, git, the journal */
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
                /** @description The project that is meant; none: the one served */
                project?: string | null;
            };
            header?: {
                /** @description Whoever asks again with the same key is answered, and nothing is done twice */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description A batch's id, or the beginning of one that no other has */
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
                    "application/json": components["schemas"]["Answered"];
                };
            };
            /** @description It is safe, and no engine has answered yet */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answered"];
                };
            };
            /** @description It can't be understood */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or not the token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It is not there */
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
            /** @description Not in this state; `state` says in which it is */
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
            /** @description The address is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The server does not go by this name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It can't be so; `field` says what */
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
            /** @description A bug; it is in the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait is in the way: the disk, git, the journal */
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
                /** @description The project that is meant; none: the one served */
                project?: string | null;
            };
            header?: {
                /** @description Whoever asks again with the same key is answered, and nothing is done twice */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description A batch's id, or the beginning of one that no other has */
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
                    "application/json": components["schemas"]["Answered"];
                };
            };
            /** @description It is safe, and no engine has answered yet */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answered"];
                };
            };
            /** @description It can't be understood */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or not the token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It is not there */
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
            /** @description Not in this state; `state` says in which it is */
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
            /** @description The address is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The server does not go by this name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It can't be so; `field` says what */
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
            /** @description A bug; it is in the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait is in the way: the disk, git, the journal */
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
                /** @description A task's id, exactly; none: all of the batch */
                task?: string[];
                /** @description The project that is meant; none: the one served */
                project?: string | null;
            };
            header?: never;
            path: {
                /** @description A batch's id, or the beginning of one that no other has */
                batch_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    /** @description For Last-Event-ID: whoever listens from it on misses nothing that this does not show */
                    "Plait-Mark"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Standing"];
                };
            };
            /** @description It can't be understood */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or not the token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It is not there */
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
            /** @description Not in this state; `state` says in which it is */
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
            /** @description The address is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The server does not go by this name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It can't be so; `field` says what */
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
            /** @description A bug; it is in the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait is in the way: the disk, git, the journal */
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
                /** @description The project that is meant; none: the one served */
                project?: string | null;
            };
            header?: {
                /** @description Whoever asks again with the same key is answered, and nothing is done twice */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description A batch's id, or the beginning of one that no other has */
                batch_id: string;
                /** @description A task's id, with what a path needs escaped */
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
                    "application/json": components["schemas"]["Answered"];
                };
            };
            /** @description It is safe, and no engine has answered yet */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answered"];
                };
            };
            /** @description It can't be understood */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or not the token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It is not there */
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
            /** @description Not in this state; `state` says in which it is */
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
            /** @description The address is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The server does not go by this name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It can't be so; `field` says what */
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
            /** @description A bug; it is in the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait is in the way: the disk, git, the journal */
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
                /** @description The project that is meant; none: the one served */
                project?: string | null;
            };
            header?: {
                /** @description Whoever asks again with the same key is answered, and nothing is done twice */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description A batch's id, or the beginning of one that no other has */
                batch_id: string;
                /** @description A task's id, with what a path needs escaped */
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
                    "application/json": components["schemas"]["Answered"];
                };
            };
            /** @description It is safe, and no engine has answered yet */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answered"];
                };
            };
            /** @description It can't be understood */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or not the token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It is not there */
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
            /** @description Not in this state; `state` says in which it is */
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
            /** @description The address is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The server does not go by this name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It can't be so; `field` says what */
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
            /** @description A bug; it is in the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait is in the way: the disk, git, the journal */
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
                /** @description The project that is meant; none: the one served */
                project?: string | null;
            };
            header?: never;
            path: {
                /** @description A batch's id, or the beginning of one that no other has */
                batch_id: string;
                /** @description A task's id, with what a path needs escaped */
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
                    "application/json": components["schemas"]["ConflictShape"];
                };
            };
            /** @description It can't be understood */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or not the token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It is not there */
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
            /** @description Not in this state; `state` says in which it is */
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
            /** @description The address is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The server does not go by this name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It can't be so; `field` says what */
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
            /** @description A bug; it is in the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait is in the way: the disk, git, the journal */
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
                /** @description None: the newest */
                attempt?: number | null;
                format?: components["schemas"]["DiffFormat"];
                /** @description The project that is meant; none: the one served */
                project?: string | null;
            };
            header?: never;
            path: {
                /** @description A batch's id, or the beginning of one that no other has */
                batch_id: string;
                /** @description A task's id, with what a path needs escaped */
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description As `git diff` tells it, or as JSON */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DiffShape"];
                    "text/plain; charset=utf-8": string;
                };
            };
            /** @description It can't be understood */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or not the token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It is not there */
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
            /** @description Not in this state; `state` says in which it is */
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
            /** @description The address is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The server does not go by this name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It can't be so; `field` says what */
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
            /** @description A bug; it is in the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait is in the way: the disk, git, the journal */
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
                /** @description The project that is meant; none: the one served */
                project?: string | null;
            };
            header?: {
                /** @description Whoever asks again with the same key is answered, and nothing is done twice */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description A batch's id, or the beginning of one that no other has */
                batch_id: string;
                /** @description A task's id, with what a path needs escaped */
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
                    "application/json": components["schemas"]["Answered"];
                };
            };
            /** @description It is safe, and no engine has answered yet */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answered"];
                };
            };
            /** @description It can't be understood */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or not the token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It is not there */
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
            /** @description Not in this state; `state` says in which it is */
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
            /** @description The address is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The server does not go by this name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It can't be so; `field` says what */
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
            /** @description A bug; it is in the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait is in the way: the disk, git, the journal */
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
                /** @description The project that is meant; none: the one served */
                project?: string | null;
            };
            header?: never;
            path: {
                /** @description A batch's id, or the beginning of one that no other has */
                batch_id: string;
                /** @description A task's id, with what a path needs escaped */
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
            /** @description It can't be understood */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or not the token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It is not there */
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
            /** @description Not in this state; `state` says in which it is */
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
            /** @description The address is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The server does not go by this name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It can't be so; `field` says what */
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
            /** @description A bug; it is in the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait is in the way: the disk, git, the journal */
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
                /** @description The project that is meant; none: the one served */
                project?: string | null;
            };
            header?: {
                /** @description Whoever asks again with the same key is answered, and nothing is done twice */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description A batch's id, or the beginning of one that no other has */
                batch_id: string;
                /** @description A task's id, with what a path needs escaped */
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
                    "application/json": components["schemas"]["Answered"];
                };
            };
            /** @description It is safe, and no engine has answered yet */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answered"];
                };
            };
            /** @description It can't be understood */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or not the token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It is not there */
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
            /** @description Not in this state; `state` says in which it is */
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
            /** @description The address is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The server does not go by this name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It can't be so; `field` says what */
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
            /** @description A bug; it is in the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait is in the way: the disk, git, the journal */
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
                /** @description A byte's offset; below 0: so many before the end */
                from?: number;
                /** @description None: the newest */
                attempt?: number | null;
                /** @description What was written, or its verification */
                step?: "write" | "verify";
                /** @description Bytes at a time */
                limit?: number;
                format?: components["schemas"]["LogFormat"];
                /** @description The project that is meant; none: the one served */
                project?: string | null;
            };
            header?: never;
            path: {
                /** @description A batch's id, or the beginning of one that no other has */
                batch_id: string;
                /** @description A task's id, with what a path needs escaped */
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A part of the transcript in whole lines, without secrets */
            200: {
                headers: {
                    /** @description Whose it is, as `write-2` */
                    "Plait-Attempt"?: string;
                    /** @description Nothing comes after it */
                    "Plait-Ended"?: boolean;
                    /** @description Where the next part starts */
                    "Plait-Next"?: number;
                    /** @description Where this part starts: later than asked for, where something was left out */
                    "Plait-Offset"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                    "text/plain; charset=utf-8": string;
                };
            };
            /** @description It can't be understood */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or not the token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It is not there */
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
            /** @description Not in this state; `state` says in which it is */
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
            /** @description The address is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The server does not go by this name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It can't be so; `field` says what */
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
            /** @description A bug; it is in the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait is in the way: the disk, git, the journal */
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
                /** @description The project that is meant; none: the one served */
                project?: string | null;
            };
            header?: {
                /** @description Whoever asks again with the same key is answered, and nothing is done twice */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description A batch's id, or the beginning of one that no other has */
                batch_id: string;
                /** @description A task's id, with what a path needs escaped */
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
                    "application/json": components["schemas"]["Answered"];
                };
            };
            /** @description It is safe, and no engine has answered yet */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answered"];
                };
            };
            /** @description It can't be understood */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or not the token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It is not there */
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
            /** @description Not in this state; `state` says in which it is */
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
            /** @description The address is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The server does not go by this name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It can't be so; `field` says what */
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
            /** @description A bug; it is in the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait is in the way: the disk, git, the journal */
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
                /** @description The project that is meant; none: the one served */
                project?: string | null;
            };
            header?: never;
            path: {
                /** @description A batch's id, or the beginning of one that no other has */
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
                    "application/json": components["schemas"]["TimelineShape"];
                };
            };
            /** @description It can't be understood */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or not the token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It is not there */
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
            /** @description Not in this state; `state` says in which it is */
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
            /** @description The address is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The server does not go by this name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It can't be so; `field` says what */
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
            /** @description A bug; it is in the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait is in the way: the disk, git, the journal */
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
                /** @description The project that is meant; none: the one served */
                project?: string | null;
            };
            header?: {
                /** @description Whoever asks again with the same key is answered, and nothing is done twice */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description A batch's id, or the beginning of one that no other has */
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
                    "application/json": components["schemas"]["Answered"];
                };
            };
            /** @description It is safe, and no engine has answered yet */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Answered"];
                };
            };
            /** @description It can't be understood */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or not the token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It is not there */
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
            /** @description Not in this state; `state` says in which it is */
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
            /** @description The address is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The server does not go by this name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It can't be so; `field` says what */
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
            /** @description A bug; it is in the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait is in the way: the disk, git, the journal */
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
                /** @description The project that is meant; none: the one served */
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
                    "application/json": components["schemas"]["BulkAnswered"];
                };
            };
            /** @description It can't be understood */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or not the token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It is not there */
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
            /** @description Not in this state; `state` says in which it is */
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
            /** @description The address is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The server does not go by this name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It can't be so; `field` says what */
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
            /** @description A bug; it is in the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait is in the way: the disk, git, the journal */
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
                /** @description As Last-Event-ID, for those who can't send it; 0: from the beginning */
                since?: string | null;
                /** @description And nothing of other batches */
                batch?: string | null;
                /** @description false: without what agents say */
                logs?: boolean;
                /** @description The project that is meant; none: the one served */
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
            /** @description Server-sent events, without end: `id`, `event` and `data`, which is this object in JSON */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["EventShape"];
                };
            };
            /** @description It can't be understood */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or not the token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It is not there */
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
            /** @description Not in this state; `state` says in which it is */
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
            /** @description The address is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The server does not go by this name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It can't be so; `field` says what */
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
            /** @description A bug; it is in the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait is in the way: the disk, git, the journal */
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
                    "application/json": components["schemas"]["Me"];
                };
            };
            /** @description It can't be understood */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or not the token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It is not there */
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
            /** @description The address is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The server does not go by this name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It can't be so; `field` says what */
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
            /** @description A bug; it is in the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait is in the way: the disk, git, the journal */
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
                /** @description The project that is meant; none: the one served */
                project?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["PlanBody"] | null;
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlanShape"];
                };
            };
            /** @description It can't be understood */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or not the token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It is not there */
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
            /** @description Not in this state; `state` says in which it is */
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
            /** @description The address is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The server does not go by this name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It can't be so; `field` says what */
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
            /** @description A bug; it is in the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait is in the way: the disk, git, the journal */
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
            /** @description It can't be understood */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or not the token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It is not there */
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
            /** @description The address is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The server does not go by this name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It can't be so; `field` says what */
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
            /** @description A bug; it is in the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait is in the way: the disk, git, the journal */
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
                    "application/json": components["schemas"]["ProjectShape"];
                };
            };
            /** @description It can't be understood */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or not the token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It is not there */
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
            /** @description Not in this state; `state` says in which it is */
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
            /** @description The address is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The server does not go by this name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It can't be so; `field` says what */
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
            /** @description A bug; it is in the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait is in the way: the disk, git, the journal */
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
            /** @description It can't be understood */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or not the token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It is not there */
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
            /** @description Not in this state; `state` says in which it is */
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
            /** @description The address is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The server does not go by this name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It can't be so; `field` says what */
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
            /** @description A bug; it is in the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait is in the way: the disk, git, the journal */
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
                /** @description The project that is meant; none: the one served */
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
            /** @description It can't be understood */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or not the token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It is not there */
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
            /** @description Not in this state; `state` says in which it is */
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
            /** @description The address is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The server does not go by this name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It can't be so; `field` says what */
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
            /** @description A bug; it is in the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait is in the way: the disk, git, the journal */
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
                /** @description The project that is meant; none: the one served */
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
            /** @description It is safe, and no engine has answered yet */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangedPreferences"];
                };
            };
            /** @description It can't be understood */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or not the token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It is not there */
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
            /** @description Not in this state; `state` says in which it is */
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
            /** @description The address is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The server does not go by this name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It can't be so; `field` says what */
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
            /** @description A bug; it is in the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait is in the way: the disk, git, the journal */
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
                    "application/json": components["schemas"]["PreferencesSchema"];
                };
            };
            /** @description It can't be understood */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or not the token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It is not there */
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
            /** @description The address is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The server does not go by this name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It can't be so; `field` says what */
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
            /** @description A bug; it is in the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait is in the way: the disk, git, the journal */
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
                /** @description The project that is meant; none: the one served */
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
                    /** @description For Last-Event-ID: whoever listens from it on misses nothing that this does not show */
                    "Plait-Mark"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tasks"];
                };
            };
            /** @description It can't be understood */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or not the token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It is not there */
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
            /** @description Not in this state; `state` says in which it is */
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
            /** @description The address is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The server does not go by this name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It can't be so; `field` says what */
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
            /** @description A bug; it is in the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait is in the way: the disk, git, the journal */
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
                /** @description The project that is meant; none: the one served */
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
                    "application/json": components["schemas"]["WholeTask"];
                };
            };
            /** @description It can't be understood */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or not the token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It is not there */
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
            /** @description Not in this state; `state` says in which it is */
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
            /** @description The address is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The server does not go by this name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It can't be so; `field` says what */
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
            /** @description A bug; it is in the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait is in the way: the disk, git, the journal */
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
                /** @description The project that is meant; none: the one served */
                project?: string | null;
            };
            header?: never;
            path: {
                /** @description A task's id, with what a path needs escaped */
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
                    "application/json": components["schemas"]["WholeTask"];
                };
            };
            /** @description It can't be understood */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or not the token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It is not there */
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
            /** @description Not in this state; `state` says in which it is */
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
            /** @description The address is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The server does not go by this name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It can't be so; `field` says what */
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
            /** @description A bug; it is in the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait is in the way: the disk, git, the journal */
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
                /** @description The project that is meant; none: the one served */
                project?: string | null;
            };
            header?: never;
            path: {
                /** @description A task's id, with what a path needs escaped */
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
                    "application/json": components["schemas"]["WholeTask"];
                };
            };
            /** @description It can't be understood */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or not the token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It is not there */
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
            /** @description Not in this state; `state` says in which it is */
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
            /** @description The address is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The server does not go by this name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It can't be so; `field` says what */
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
            /** @description A bug; it is in the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait is in the way: the disk, git, the journal */
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
            /** @description The exposition format of Prometheus */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/openmetrics-text": string;
                    "text/plain": string;
                };
            };
            /** @description It can't be understood */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No token, or not the token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Not for this token, or from another origin */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It is not there */
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
            /** @description The address is too long */
            414: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The server does not go by this name */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description It can't be so; `field` says what */
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
            /** @description A bug; it is in the server's log */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Something outside of plait is in the way: the disk, git, the journal */
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
