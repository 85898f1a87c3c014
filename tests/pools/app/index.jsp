<%@page contentType="text/plain" import="java.sql.*,javax.naming.*,javax.sql.*"%><%--
 Takes connections from a pool and gives them back, n times. A line a time: the microseconds of the
 checkout and of the statement, or what failed.
--%><%
    DataSource pool = (DataSource) new InitialContext().lookup(request.getParameter("jndi"));
    String sql = request.getParameter("sql");
    int times = Integer.parseInt(request.getParameter("n"));
    StringBuilder lines = new StringBuilder();
    for (int i = 0; i < times; i++) {
        long began = System.nanoTime();
        try (Connection connection = pool.getConnection()) {
            long taken = System.nanoTime();
            if (sql != null) {
                try (Statement statement = connection.createStatement()) {
                    statement.execute(sql);
                }
            }
            long asked = System.nanoTime();
            lines.append((taken - began) / 1000).append(' ').append((asked - taken) / 1000);
        } catch (SQLException problem) {
            lines.append("failed: ").append(problem.getSQLState());
        }
        lines.append('\n');
    }
    out.print(lines);
%>
