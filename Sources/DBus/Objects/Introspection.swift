/// The introspection document of an object, in XML.
enum Introspection {
    /// Returns the document of a node.
    ///
    /// - Parameters:
    ///   - object: The object at the path; nil if there are only objects below the path.
    ///   - children: The names of the nodes one level below.
    static func document(of object: DBusObject?, children: [String]) -> String {
        var text = """
            <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
            "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
            <node>\n
            """
        for interface in standardInterfaces(of: object) + (object?.interfaces ?? []) { text += element(interface) }
        for child in children { text += "  <node name=\"\(escaped(child))\"/>\n" }
        return text + "</node>\n"
    }

    private static func element(_ interface: DBusInterface) -> String {
        var text = "  <interface name=\"\(interface.name)\">\n"
        for method in interface.methods {
            let arguments =
                method.inputs.map { element($0, " direction=\"in\"") }
                + method.outputs.map { element($0, " direction=\"out\"") }
            text += element("method", method.name, arguments)
        }
        for signal in interface.signals {
            text += element("signal", signal.name, signal.arguments.map { element($0, "") })
        }
        for property in interface.properties { text += element(property) }
        return text + "  </interface>\n"
    }

    private static func element(_ kind: String, _ name: String, _ arguments: [String]) -> String {
        if arguments.isEmpty { return "    <\(kind) name=\"\(name)\"/>\n" }
        return "    <\(kind) name=\"\(name)\">\n\(arguments.joined())    </\(kind)>\n"
    }

    private static func element(_ argument: DBusArgument, _ direction: String) -> String {
        "      <arg name=\"\(escaped(argument.name))\" type=\"\(argument.signature)\"\(direction)/>\n"
    }

    private static let changeAnnotation = "org.freedesktop.DBus.Property.EmitsChangedSignal"

    private static func element(_ property: DBusProperty) -> String {
        let access = (property.read == nil ? "" : "read") + (property.write == nil ? "" : "write")
        return """
                <property name="\(property.name)" type="\(property.signature)" access="\(access)">
                  <annotation name="\(changeAnnotation)" value="\(property.changeNotice.rawValue)"/>
                </property>\n
            """
    }

    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case "\"": escaped += "&quot;"
            default: escaped.append(character)
            }
        }
        return escaped
    }

    /// Returns the interfaces that the module itself implements. The document needs only their declarations.
    private static func standardInterfaces(of object: DBusObject?) -> [DBusInterface] {
        var interfaces = [
            DBusInterface(BusName.introspectable, methods: [shape("Introspect", [], [("xml", "s")])]),
            DBusInterface(
                BusName.peer, methods: [shape("Ping", [], []), shape("GetMachineId", [], [("machine_uuid", "s")])]),
        ]
        guard let object else { return interfaces }
        let names: [(String, DBusSignature)] = [("interface_name", "s"), ("property_name", "s")]
        interfaces.append(
            DBusInterface(
                BusName.properties,
                methods: [
                    shape("Get", names, [("value", "v")]),
                    shape("GetAll", [names[0]], [("properties", "a{sv}")]),
                    shape("Set", names + [("value", "v")], []),
                ],
                signals: [
                    DBusSignalDescription(
                        "PropertiesChanged",
                        [
                            DBusArgument("interface_name", "s"), DBusArgument("changed_properties", "a{sv}"),
                            DBusArgument("invalidated_properties", "as"),
                        ])
                ]))
        guard object.isObjectManager else { return interfaces }
        interfaces.append(
            DBusInterface(
                BusName.objectManager,
                methods: [shape("GetManagedObjects", [], [("objects", "a{oa{sa{sv}}}")])],
                signals: [
                    DBusSignalDescription(
                        "InterfacesAdded", [DBusArgument("object", "o"), DBusArgument("interfaces", "a{sa{sv}}")]),
                    DBusSignalDescription(
                        "InterfacesRemoved", [DBusArgument("object", "o"), DBusArgument("interfaces", "as")]),
                ]))
        return interfaces
    }

    private static func shape(
        _ name: String, _ inputs: [(String, DBusSignature)], _ outputs: [(String, DBusSignature)]
    ) -> DBusMethod {
        DBusMethod(
            name, inputs: inputs.map { DBusArgument($0.0, $0.1) }, outputs: outputs.map { DBusArgument($0.0, $0.1) }
        ) { _ in [] }
    }
}
