"""Files of Tomcat, HikariCP and Spring Boot that tell of pools."""

import pytest
from ansible.module_utils.hostproof.controls.pool_validation.parsers import (
    pool_properties,
    pools,
    tomcat_resources,
)
from ansible.module_utils.hostproof.errors import ParseError
from cases import cases
from packs import FIXTURES

CONTEXT = (FIXTURES / "pool_validation/tomcat-context-made-up.xml").read_text()
SPRING = (FIXTURES / "pool_validation/application-made-up.properties").read_text()


def test_each_data_source_of_tomcat_with_its_pool():
    sources = {source.name: source for source in tomcat_resources.parse(CONTEXT)}
    assert {name: source.kind for name, source in sources.items()} == {
        "jdbc/orders": "dbcp2",
        "jdbc/shop": "tomcat_jdbc",
        "jdbc/hikari": "hikaricp",
        "jdbc/ucp": "ucp",
        "jdbc/plain": "oracle.jdbc.pool.OracleDataSourceFactory",
    }
    # What the pool does not see is not told: DBCP 2 has no maxActive, UCP no SQLFor...
    assert sources["jdbc/orders"].values == {
        "driverClassName": "oracle.jdbc.OracleDriver",
        "validationQuery": "select 1 from dual",
        "database": "jdbc:oracle",
    }
    assert "sqlForValidateConnection" not in sources["jdbc/ucp"].values
    assert sources["jdbc/plain"].values == {}


@cases(
    "attributes kind",
    ('type="javax.sql.DataSource"', "dbcp2"),
    ('type="javax.sql.XADataSource"', "javax.sql.XADataSource"),
    ('type="javax.sql.DataSource" factory="x.Y"', "x.Y"),
    ('type="x.Y" factory="com.zaxxer.hikari.HikariJNDIFactory"', None),
    ('type="org.apache.catalina.UserDatabase" factory="x.MemoryFactory"', None),
)
def test_what_makes_a_data_source(attributes, kind):
    sources = tomcat_resources.parse(f'<Context><Resource name="a" {attributes}/></Context>')
    assert [source.kind for source in sources] == ([] if kind is None else [kind])


def test_secrets_are_not_kept():
    kept = pools.kept(tomcat_resources.parse(CONTEXT)) + pools.kept(pool_properties.parse(SPRING))
    assert "tiger" not in kept and "thin" not in kept
    assert pools.from_kept(pools.kept(pool_properties.parse(SPRING)))


@cases(
    "text",
    "<Context>",
    "<!DOCTYPE a [<!ENTITY b 'c'>]><Context/>",
    "<a>" * 65 + "</a>" * 65,
    f'<Context><Resource type="javax.sql.DataSource" url="{"x" * 5000}"/></Context>',
    "<Context>" + '<Resource type="javax.sql.DataSource"/>' * 1001 + "</Context>",
)
def test_xml_that_is_none_or_too_much(text):
    with pytest.raises(ParseError):
        tomcat_resources.parse(text)


def test_spring_s_names_in_any_form_and_no_one_else_s():
    [source] = pool_properties.parse(SPRING)
    assert (source.kind, source.values) == ("Spring without spring.datasource.type", {})
    for java, kind, values in (
        (
            "org.apache.commons.dbcp2.BasicDataSource",
            "dbcp2",
            {"testOnBorrow": "false", "maxTotal": "12"},
        ),
        (
            "com.zaxxer.hikari.HikariDataSource",
            "hikaricp",
            {"maximumPoolSize": "25", "connectionTestQuery": "select 1 from dual"},
        ),
    ):
        [source] = pool_properties.parse(SPRING + f"\nspring.datasource.type={java}\n")
        assert (source.kind, source.values) == (kind, {**values, "database": "jdbc:oracle"})


def test_a_prefix_of_the_application_s_own_is_a_pool_that_is_not_known():
    for line, prefix in (
        ("app.datasource.hikari.maximum-pool-size=5", "app.datasource"),
        ("shop.db.jdbc-url=jdbc:oracle:thin:@x", "shop.db"),
        ("shop.db.driverClassName=oracle.jdbc.OracleDriver", "shop.db"),
        ("app.ds.tomcat.testOnBorrow=true", "app.ds"),
    ):
        [source] = pool_properties.parse(f"spring.application.name=shop\n{line}\n{line}\n")
        assert source.kind == f"the application's own prefix {prefix}"
        first, second = pool_properties.parse(
            f"{line}\nspring.datasource.type=com.zaxxer.hikari.HikariDataSource\n"
        )
        assert (first.kind, second.name) == ("hikaricp", prefix)


def test_a_second_pool_below_spring_s_prefix_is_not_known():
    java = "spring.datasource.type=com.zaxxer.hikari.HikariDataSource\n"
    for line in ("jdbc-url=jdbc:oracle:thin:@x", "driver-class-name=x", "hikari.x=1"):
        kinds = [one.kind for one in pool_properties.parse(f"{java}spring.datasource.b.{line}\n")]
        assert kinds == ["hikaricp", "the application's own prefix spring.datasource.b"]
        [only] = pool_properties.parse(f"{java}spring.datasource.{line}\n")
        assert only.kind == "hikaricp"


@cases(
    "text database",
    ("dataSourceClassName=oracle.jdbc.pool.OracleDataSource\n", "jdbc:oracle"),
    ("jdbcUrl=${DB_URL}\ndriverClassName=oracle.jdbc.OracleDriver\n", "jdbc:oracle"),
    (
        "dataSource.url=jdbc:postgresql://h/x\ndriverClassName=oracle.jdbc.X\n",
        "jdbc:postgresql",
    ),
    ("dataSourceClassName=org.postgresql.ds.PGSimpleDataSource\n", None),
)
def test_the_driver_states_the_database_where_no_url_does(text, database):
    [source] = pool_properties.parse(text + "connectionTestQuery=SELECT 1\n")
    assert source.values.get("database") == database
    class_name = text.partition("=")[2].partition("\n")[0]
    [resource] = tomcat_resources.parse(
        '<Context><Resource name="a" type="javax.sql.DataSource" '
        'factory="com.zaxxer.hikari.HikariJNDIFactory" '
        f'dataSourceClassName="{class_name}"/></Context>'
    )
    assert resource.values.get("database") == ("jdbc:oracle" if "oracle" in class_name else None)


def test_spring_gives_the_driver_to_ucp():
    """DataSourceBuilder, OraclePoolDataSourceProperties; a public application."""
    text = (FIXTURES / "pool_validation/ucp-spring.properties").read_text()
    for properties in (text, text.replace("spring.datasource.driver-class-name", "x.y")):
        [source] = pool_properties.parse(properties)
        assert source.kind == "ucp"
        assert source.values["connectionFactoryClassName"] == "oracle.jdbc.OracleDriver"
        assert source.values["validateConnectionOnBorrow"] == "true"


def test_a_file_of_weblogic_is_named():
    with pytest.raises(ParseError, match="a file of WebLogic, which is not read"):
        tomcat_resources.parse('<jdbc-data-source xmlns="a"><name>x</name></jdbc-data-source>')


def test_a_file_of_jboss_is_none_of_tomcat():
    for text in (
        '<server xmlns="urn:jboss:domain:20.0"><profile><subsystem xmlns="urn:jboss:domain:'
        'datasources:7.0"><datasources/></subsystem></profile></server>',
        "<datasources><datasource jndi-name='java:/A' pool-name='A'/></datasources>",
    ):
        with pytest.raises(ParseError, match="pool_validation_servers"):
            tomcat_resources.parse(text)


BOTH = {"maximumPoolSize": "5", "minimumIdle": "1"}


@cases(
    "text values",
    ("maximumPoolSize=5\n", {"maximumPoolSize": "5"}),
    ("maximumPoolSize:5\rminimumIdle 2", {"maximumPoolSize": "5", "minimumIdle": "2"}),
    # Of two the last counts, as in java.util.Properties; case does, too.
    ("maximumPoolSize=5\nmaximumPoolSize=6\nmaximumpoolsize=7", {"maximumPoolSize": "6"}),
    ("maximum\\\n  PoolSize=5", {"maximumPoolSize": "5"}),
    (
        "max\\u0069mumPoolSize=5\\\\\nminimumIdle=1",
        {"maximumPoolSize": "5\\", "minimumIdle": "1"},
    ),
    ("#maximumPoolSize=5\n!minimumIdle=1\njdbcUrl=x", {}),
    # No line continues a comment.
    ("# in C:\\\nmaximumPoolSize=5\n! in D:\\\nminimumIdle=1", BOTH),
    ("dataSource.user=x", {}),
)
def test_a_file_of_hikaricp(text, values):
    assert [(source.kind, source.values) for source in pool_properties.parse(text)] == [
        ("hikaricp", values)
    ]


@cases(
    "more kinds",
    # Which pool that is, the release and the class path decide.
    ("", ["Spring without spring.datasource.type"]),
    ("spring.datasource.type=com.zaxxer.hikari.HikariDataSource", ["hikaricp"]),
    ("spring.datasource.type=org.apache.tomcat.jdbc.pool.DataSource", ["tomcat_jdbc"]),
    ("spring.datasource.type=com.mchange.v2.c3p0.ComboPooledDataSource", None),
    ("spring.datasource.jndi-name=java:/SHOP", ["a JNDI name"]),
    ("spring.datasource.jndiName=java:/SHOP\nspring.datasource.hikari.x=1", ["a JNDI name"]),
    # Settings of a pool that is not taken are settings of nothing.
    (
        "spring.datasource.type=org.apache.commons.dbcp2.BasicDataSource\n"
        "spring.datasource.hikari.maximum-pool-size=7",
        ["dbcp2"],
    ),
    ("spring.datasource.tomcat.test-on-borrow=true", ["Spring without spring.datasource.type"]),
    ("SPRING.DataSource.DBCP2.maxTotal=3", ["Spring without spring.datasource.type"]),
    # Another file, or who starts it, has the last word.
    (
        "spring.datasource.tomcat.max-active=9\nspring.config.activate.on-profile=prod",
        ["Spring with profiles or imports"],
    ),
    (
        "spring.datasource.tomcat.max-active=9\nspring.profiles.active=prod",
        ["Spring with profiles or imports"],
    ),
    (
        "spring.datasource.tomcat.max-active=9\nSpring.Config.Import=optional:file:x",
        ["Spring with profiles or imports"],
    ),
)
def test_which_pool_spring_takes(more, kinds):
    text = f"spring.datasource.url=jdbc:oracle:thin:@x\nmaximumPoolSize=3\n{more}\n"
    result = [source.kind for source in pool_properties.parse(text)]
    assert result == (kinds or ["com.mchange.v2.c3p0.ComboPooledDataSource"])


@cases(
    "text value",
    *(("true", "true"), ("YES", "true"), ("on", "true"), ("1", "true"), ("no", "false")),
    *(("Off", "false"), ("0", "false"), ("${BORROW:true}", "${BORROW:true}")),
)
def test_spring_s_booleans(text, value):
    kind = "spring.datasource.type=org.apache.commons.dbcp2.BasicDataSource\n"
    [source] = pool_properties.parse(kind + f"spring.datasource.dbcp2.test-on-borrow={text}\n")
    assert source.values == {"testOnBorrow": value}


def test_what_spring_does_not_take_for_a_boolean():
    with pytest.raises(ParseError, match="not a boolean: a word of 2 characters"):
        pool_properties.parse("spring.datasource.dbcp2.test-on-borrow=ja\n")


def test_a_file_that_tells_of_no_pool():
    assert pool_properties.parse("server.port=80\n") == []
    assert pool_properties.parse("spring.application.name=shop\nmaximumPoolSize=3\n") == []


def test_a_line_without_an_end():
    with pytest.raises(ParseError, match="too long"):
        pool_properties.parse("a\\\n" * 70000)


@cases(
    "text",
    "",
    "{}",
    "[1]",
    '[{"name": "a"}]',
    '[{"name": "a", "kind": 1, "values": {}}]',
    '[{"name": "a", "kind": "ucp", "values": []}]',
    '[{"name": "a", "kind": "ucp", "values": {"b": 1}}]',
    '[{"name": "a", "kind": "ucp", "values": {"b": "%s"}}]' % ("x" * 5000),
    "[" * 100000,
)
def test_a_record_that_is_none(text):
    with pytest.raises(ParseError):
        pools.from_kept(text)
