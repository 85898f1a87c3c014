import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.Driver;
import java.sql.DriverPropertyInfo;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.Hashtable;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Logger;
import javax.naming.CompositeName;
import javax.naming.Reference;
import javax.naming.StringRefAddr;
import javax.naming.spi.ObjectFactory;
import javax.sql.DataSource;

/**
 * How often a real pool validates. Arguments: FACTORY TYPE NAME=VALUE...; the factory is given the
 * attributes as Tomcat gives it those of a Resource. The database behind the pool is a stand-in: a
 * driver that counts what it is asked. One line: validations in ten checkouts, one after another;
 * in one after 700 ms of rest; and in the background during two seconds without any.
 */
public final class CheckoutProbe {
    static final AtomicInteger ASKED = new AtomicInteger();

    public static final class CountingDriver implements Driver {
        public Connection connect(String url, Properties info) {
            return url.startsWith("jdbc:counting:") ? made(Connection.class, new Told()) : null;
        }
        public boolean acceptsURL(String url) { return url.startsWith("jdbc:counting:"); }
        public DriverPropertyInfo[] getPropertyInfo(String url, Properties info) {
            return new DriverPropertyInfo[0];
        }
        public int getMajorVersion() { return 1; }
        public int getMinorVersion() { return 0; }
        public boolean jdbcCompliant() { return false; }
        public Logger getParentLogger() { return Logger.getGlobal(); }
    }

    static final class Told implements InvocationHandler {
        private boolean closed;
        private boolean commits = true;
        public Object invoke(Object self, java.lang.reflect.Method method, Object[] given) {
            String name = method.getName();
            if (name.equals("isValid") || name.startsWith("execute")) {
                ASKED.incrementAndGet();
            }
            switch (name) {
                case "isValid": return true;
                case "execute": return true;
                case "close": closed = true; return null;
                case "isClosed": return closed;
                case "setAutoCommit": commits = (Boolean) given[0]; return null;
                case "getAutoCommit": return commits;
                case "getTransactionIsolation": return Connection.TRANSACTION_READ_COMMITTED;
                case "equals": return self == given[0];
                case "hashCode": return System.identityHashCode(self);
                case "toString": return "stand-in";
                default:
            }
            Class<?> kind = method.getReturnType();
            boolean isPart = Statement.class.isAssignableFrom(kind)
                || kind == ResultSet.class || kind == DatabaseMetaData.class;
            if (isPart) return made(kind, new Told());
            if (kind == boolean.class) return false;
            if (kind == int.class) return 0;
            if (kind == long.class) return 0L;
            return null;
        }
    }

    static <T> T made(Class<T> kind, InvocationHandler told) {
        ClassLoader ours = CheckoutProbe.class.getClassLoader();
        return kind.cast(Proxy.newProxyInstance(ours, new Class<?>[] {kind}, told));
    }

    static int checkouts(DataSource pool, int number) throws Exception {
        int before = ASKED.get();
        for (int i = 0; i < number; i++) pool.getConnection().close();
        return ASKED.get() - before;
    }

    public static void main(String[] given) throws Exception {
        ObjectFactory factory =
            (ObjectFactory) Class.forName(given[0]).getConstructor().newInstance();
        Reference reference = new Reference(given[1], given[0], null);
        for (int i = 2; i < given.length; i++) {
            String[] pair = given[i].split("=", 2);
            reference.add(new StringRefAddr(pair[0], pair[1]));
        }
        DataSource pool = (DataSource)
            factory.getObjectInstance(reference, new CompositeName("pool"), null, new Hashtable<>());
        checkouts(pool, 1);
        int atOnce = checkouts(pool, 10);
        Thread.sleep(700);
        int rested = checkouts(pool, 1);
        int before = ASKED.get();
        Thread.sleep(2000);
        System.out.println(atOnce + " " + rested + " " + (ASKED.get() - before));
        System.exit(0);
    }
}
