#!/bin/sh
# The files of a WildFly, an account that runs it, and a Java that stands in for jboss-cli.
home=/opt/wildfly
useradd --uid 54400 --create-home wildfly
install -d -m 0755 -o wildfly -g wildfly "$home" "$home/bin" "$home/standin" \
  "$home/standalone" "$home/standalone/configuration" "$home/standalone/deployments"
install -m 0644 -o wildfly -g wildfly scenario/files/model.json "$home/standin/model.json"
install -m 0640 -o wildfly -g wildfly fixtures/pool_validation/standalone.xml \
  "$home/standalone/configuration/standalone.xml"
touch "$home/jboss-modules.jar"
install -D -m 0755 standins/jboss_java /usr/lib/jvm/java-17/bin/java
ln -sf /usr/lib/jvm/java-17/bin/java /usr/bin/java
