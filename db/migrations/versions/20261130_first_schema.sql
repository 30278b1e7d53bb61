-- The first schema. Indexes stand beside their tables; what holds vectors is in the Python file.

CREATE TABLE recipe (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    hash BYTEA NOT NULL,
    profile TEXT NOT NULL,
    body JSONB NOT NULL,
    CONSTRAINT pk_recipe PRIMARY KEY (id),
    CONSTRAINT uq_recipe_hash UNIQUE (hash)
);

CREATE TABLE run (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    kind TEXT NOT NULL,
    recipe_id BIGINT,
    started_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    ended_at TIMESTAMP WITH TIME ZONE,
    outcome TEXT,
    host TEXT DEFAULT '' NOT NULL,
    pid INTEGER DEFAULT 0 NOT NULL,
    prefect_run_id TEXT,
    facts JSONB DEFAULT '{}' NOT NULL,
    CONSTRAINT pk_run PRIMARY KEY (id),
    CONSTRAINT fk_run_recipe_id_recipe FOREIGN KEY(recipe_id)
        REFERENCES recipe (id) ON DELETE SET NULL
);

CREATE TABLE document (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    sha256 BYTEA NOT NULL,
    media_type TEXT,
    size BIGINT NOT NULL,
    status TEXT NOT NULL,
    code TEXT,
    message TEXT,
    page_count INTEGER,
    is_repaired BOOLEAN DEFAULT false NOT NULL,
    is_encrypted BOOLEAN DEFAULT false NOT NULL,
    permissions INTEGER,
    title TEXT DEFAULT '' NOT NULL,
    notes JSONB DEFAULT '[]' NOT NULL,
    split_version INTEGER,
    edition_id BIGINT,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT pk_document PRIMARY KEY (id),
    CONSTRAINT ck_document_sha256_length CHECK (length(sha256) = 32),
    CONSTRAINT uq_document_sha256 UNIQUE (sha256)
);
CREATE INDEX ix_document_status ON document (status);

CREATE TABLE source (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    document_id BIGINT NOT NULL,
    uri_sha256 BYTEA NOT NULL,
    uri TEXT NOT NULL,
    raw BYTEA,
    size BIGINT NOT NULL,
    mtime_ns BIGINT NOT NULL,
    first_seen TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    last_seen TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    gone_at TIMESTAMP WITH TIME ZONE,
    superseded_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_source PRIMARY KEY (id),
    CONSTRAINT uq_source_uri_sha256_document_id UNIQUE (uri_sha256, document_id),
    CONSTRAINT fk_source_document_id_document FOREIGN KEY(document_id)
        REFERENCES document (id) ON DELETE CASCADE
);
CREATE INDEX ix_source_document_id ON source (document_id);

CREATE TABLE run_document (
    run_id BIGINT NOT NULL,
    document_id BIGINT NOT NULL,
    seen_as TEXT NOT NULL,
    CONSTRAINT pk_run_document PRIMARY KEY (run_id, document_id),
    CONSTRAINT fk_run_document_run_id_run FOREIGN KEY(run_id)
        REFERENCES run (id) ON DELETE CASCADE,
    CONSTRAINT fk_run_document_document_id_document FOREIGN KEY(document_id)
        REFERENCES document (id) ON DELETE CASCADE
);
CREATE INDEX ix_run_document_document_id ON run_document (document_id);

CREATE TABLE scan_problem (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    run_id BIGINT NOT NULL,
    uri TEXT NOT NULL,
    code TEXT NOT NULL,
    message TEXT NOT NULL,
    CONSTRAINT pk_scan_problem PRIMARY KEY (id),
    CONSTRAINT fk_scan_problem_run_id_run FOREIGN KEY(run_id)
        REFERENCES run (id) ON DELETE CASCADE
);
CREATE INDEX ix_scan_problem_run_id ON scan_problem (run_id);

CREATE TABLE page (
    document_id BIGINT NOT NULL,
    page_no INTEGER NOT NULL,
    width_pt DOUBLE PRECISION NOT NULL,
    height_pt DOUBLE PRECISION NOT NULL,
    rotation INTEGER NOT NULL,
    notes JSONB NOT NULL,
    words BYTEA NOT NULL,
    layer_chars INTEGER NOT NULL,
    split_version INTEGER NOT NULL,
    CONSTRAINT pk_page PRIMARY KEY (document_id, page_no),
    CONSTRAINT fk_page_document_id_document FOREIGN KEY(document_id)
        REFERENCES document (id) ON DELETE CASCADE
);

CREATE TABLE page_image (
    document_id BIGINT NOT NULL,
    page_no INTEGER NOT NULL,
    preprocess_key BYTEA NOT NULL,
    sha256 BYTEA NOT NULL,
    suffix TEXT NOT NULL,
    width_px INTEGER NOT NULL,
    height_px INTEGER NOT NULL,
    transform JSONB NOT NULL,
    ink DOUBLE PRECISION NOT NULL,
    is_blank BOOLEAN NOT NULL,
    notes JSONB NOT NULL,
    CONSTRAINT pk_page_image PRIMARY KEY (document_id, page_no, preprocess_key),
    CONSTRAINT fk_page_image_document_id_page FOREIGN KEY(document_id, page_no)
        REFERENCES page (document_id, page_no) ON DELETE CASCADE
);
CREATE INDEX ix_page_image_sha256 ON page_image (sha256);

CREATE TABLE claim (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    document_id BIGINT NOT NULL,
    recipe_id BIGINT NOT NULL,
    page_no INTEGER NOT NULL,
    stage TEXT NOT NULL,
    status TEXT NOT NULL,
    attempt INTEGER DEFAULT 0 NOT NULL,
    crashes INTEGER DEFAULT 0 NOT NULL,
    priority INTEGER DEFAULT 0 NOT NULL,
    profile TEXT NOT NULL,
    owner TEXT,
    leased_at TIMESTAMP WITH TIME ZONE,
    leased_until TIMESTAMP WITH TIME ZONE,
    ready_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    not_before TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    ended_at TIMESTAMP WITH TIME ZONE,
    code TEXT,
    message TEXT,
    run_id BIGINT,
    CONSTRAINT pk_claim PRIMARY KEY (id),
    CONSTRAINT uq_claim_document_id_recipe_id_page_no UNIQUE (document_id, recipe_id, page_no),
    CONSTRAINT fk_claim_document_id_document FOREIGN KEY(document_id)
        REFERENCES document (id) ON DELETE CASCADE,
    CONSTRAINT fk_claim_recipe_id_recipe FOREIGN KEY(recipe_id)
        REFERENCES recipe (id) ON DELETE CASCADE,
    CONSTRAINT fk_claim_run_id_run FOREIGN KEY(run_id)
        REFERENCES run (id) ON DELETE SET NULL
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX ix_claim_leased ON claim (owner, leased_until) WHERE status = 'leased';
CREATE INDEX ix_claim_ready ON claim (stage, priority, id) WHERE status = 'ready';

CREATE TABLE reading (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    document_id BIGINT NOT NULL,
    page_no INTEGER NOT NULL,
    recipe_id BIGINT NOT NULL,
    source TEXT NOT NULL,
    text TEXT NOT NULL,
    blocks JSONB NOT NULL,
    finish_reason TEXT NOT NULL,
    verdict TEXT NOT NULL,
    engine TEXT DEFAULT '' NOT NULL,
    seconds DOUBLE PRECISION NOT NULL,
    tokens_in INTEGER,
    tokens_out INTEGER,
    confidence DOUBLE PRECISION,
    attempts INTEGER DEFAULT 1 NOT NULL,
    layer_agreement DOUBLE PRECISION,
    raw TEXT,
    notes JSONB NOT NULL,
    image_sha256 BYTEA,
    cached_from BIGINT,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT pk_reading PRIMARY KEY (id),
    CONSTRAINT uq_reading_document_id_page_no_recipe_id UNIQUE (document_id, page_no, recipe_id),
    CONSTRAINT fk_reading_document_id_page FOREIGN KEY(document_id, page_no)
        REFERENCES page (document_id, page_no) ON DELETE CASCADE,
    CONSTRAINT fk_reading_recipe_id_recipe FOREIGN KEY(recipe_id)
        REFERENCES recipe (id) ON DELETE CASCADE,
    CONSTRAINT fk_reading_cached_from_reading FOREIGN KEY(cached_from)
        REFERENCES reading (id) ON DELETE SET NULL
);
CREATE INDEX ix_reading_cached_from ON reading (cached_from);
CREATE INDEX ix_reading_image_sha256_recipe_id ON reading (image_sha256, recipe_id);

CREATE TABLE finding (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    document_id BIGINT NOT NULL,
    page_no INTEGER NOT NULL,
    reading_id BIGINT,
    code TEXT NOT NULL,
    severity TEXT NOT NULL,
    message TEXT NOT NULL,
    evidence JSONB NOT NULL,
    CONSTRAINT pk_finding PRIMARY KEY (id),
    CONSTRAINT fk_finding_document_id_page FOREIGN KEY(document_id, page_no)
        REFERENCES page (document_id, page_no) ON DELETE CASCADE,
    CONSTRAINT fk_finding_reading_id_reading FOREIGN KEY(reading_id)
        REFERENCES reading (id) ON DELETE CASCADE
);
CREATE INDEX ix_finding_document_id_page_no ON finding (document_id, page_no);
CREATE INDEX ix_finding_reading_id ON finding (reading_id);

CREATE TABLE edition (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    document_id BIGINT NOT NULL,
    recipe_id BIGINT NOT NULL,
    digest BYTEA NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    run_id BIGINT,
    CONSTRAINT pk_edition PRIMARY KEY (id),
    CONSTRAINT uq_edition_document_id_digest UNIQUE (document_id, digest),
    CONSTRAINT fk_edition_document_id_document FOREIGN KEY(document_id)
        REFERENCES document (id) ON DELETE CASCADE,
    CONSTRAINT fk_edition_recipe_id_recipe FOREIGN KEY(recipe_id)
        REFERENCES recipe (id) ON DELETE CASCADE,
    CONSTRAINT fk_edition_run_id_run FOREIGN KEY(run_id)
        REFERENCES run (id) ON DELETE SET NULL
);

CREATE TABLE edition_page (
    edition_id BIGINT NOT NULL,
    page_no INTEGER NOT NULL,
    reading_id BIGINT,
    verdict TEXT NOT NULL,
    code TEXT,
    message TEXT,
    CONSTRAINT pk_edition_page PRIMARY KEY (edition_id, page_no),
    CONSTRAINT fk_edition_page_edition_id_edition FOREIGN KEY(edition_id)
        REFERENCES edition (id) ON DELETE CASCADE,
    CONSTRAINT fk_edition_page_reading_id_reading FOREIGN KEY(reading_id)
        REFERENCES reading (id)
);
CREATE INDEX ix_edition_page_reading_id ON edition_page (reading_id);

CREATE TABLE chunk (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    edition_id BIGINT NOT NULL,
    ordinal INTEGER NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    headings TEXT[] NOT NULL,
    pages INTEGER[] NOT NULL,
    boxes JSONB NOT NULL,
    fts TSVECTOR NOT NULL,
    fts_cjk TSVECTOR NOT NULL,
    CONSTRAINT pk_chunk PRIMARY KEY (id),
    CONSTRAINT uq_chunk_edition_id_ordinal UNIQUE (edition_id, ordinal),
    CONSTRAINT fk_chunk_edition_id_edition FOREIGN KEY(edition_id)
        REFERENCES edition (id) ON DELETE CASCADE
);
CREATE INDEX ix_chunk_fts ON chunk USING gin (fts);
CREATE INDEX ix_chunk_fts_cjk ON chunk USING gin (fts_cjk);

CREATE TABLE stage_run (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    run_id BIGINT NOT NULL,
    document_id BIGINT NOT NULL,
    stage TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    ready_at TIMESTAMP WITH TIME ZONE NOT NULL,
    started_at TIMESTAMP WITH TIME ZONE NOT NULL,
    ended_at TIMESTAMP WITH TIME ZONE NOT NULL,
    seconds DOUBLE PRECISION NOT NULL,
    pages INTEGER NOT NULL,
    cached INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    code TEXT,
    worker TEXT DEFAULT '' NOT NULL,
    prefect_run_id TEXT,
    CONSTRAINT pk_stage_run PRIMARY KEY (id),
    CONSTRAINT uq_stage_run_run_id_document_id_stage_attempt UNIQUE (run_id, document_id, stage, attempt),
    CONSTRAINT fk_stage_run_run_id_run FOREIGN KEY(run_id)
        REFERENCES run (id) ON DELETE CASCADE,
    CONSTRAINT fk_stage_run_document_id_document FOREIGN KEY(document_id)
        REFERENCES document (id) ON DELETE CASCADE
);
CREATE INDEX ix_stage_run_document_id ON stage_run (document_id);

ALTER TABLE document ADD CONSTRAINT fk_document_edition_id_edition
    FOREIGN KEY (edition_id) REFERENCES edition (id);
