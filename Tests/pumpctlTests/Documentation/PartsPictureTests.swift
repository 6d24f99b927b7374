import Testing

@Suite("Module picture")
struct PartsPictureTests {
    /// The box of a module in the picture, in the picture's units.
    private struct Box {
        let x, y, width, height: Int

        /// Whether a point is at most two units away from the border.
        func hasAtBorder(_ x: Int, _ y: Int) -> Bool {
            let (across, down) = (x - self.x, y - self.y)
            guard (-2...width + 2).contains(across), (-2...height + 2).contains(down) else { return false }
            return min(abs(across), abs(across - width), abs(down), abs(down - height)) <= 2
        }
    }

    private let picture: String
    private let modules: [String: Set<String>]

    init() throws {
        picture = try MarkdownPage.text("docs/parts.svg")
        modules = try Self.modules()
    }

    /// The modules of Package.swift, each with the modules that it uses directly. C modules and test modules are left
    /// out.
    private static func modules() throws -> [String: Set<String>] {
        let targets = try MarkdownPage.text("Package.swift").matches(
            of:
                /\.(?:target|executableTarget)\(\s*name: "([\w-]+)"(?:,\s*dependencies: \[([^\[\]]*)\])?(,\s*path: "Tests)?/
        )
        let ours = targets.filter { $0.3 == nil && $0.1.wholeMatch(of: /C[A-Z].*/) == nil }
        let names = Set(ours.map { String($0.1) })
        return Dictionary(
            uniqueKeysWithValues: ours.map { target in
                let used = (target.2 ?? "").matches(of: /"([\w-]+)"/).map { String($0.1) }
                return (String(target.1), names.intersection(used))
            })
    }

    /// The modules that a module uses, directly or indirectly.
    private static func closure(_ uses: [String: Set<String>], _ module: String) -> Set<String> {
        uses[module, default: []].reduce(into: uses[module, default: []]) { $0.formUnion(closure(uses, $1)) }
    }

    @Test("The picture has every module, and its arrows lead to all direct and indirect dependencies")
    func arrows() {
        #expect(modules.count > 20)
        let boxes = picture.matches(of: /data-part="([\w-]+)"/).map { String($0.1) }
        #expect(Set(boxes) == Set(modules.keys))
        var drawn: [String: Set<String>] = [:]
        for arrow in picture.matches(of: /data-from="([\w-]+)" data-to="([\w-]+)"/) {
            drawn[String(arrow.1), default: []].insert(String(arrow.2))
        }
        for module in modules.keys {
            #expect(Self.closure(drawn, module) == Self.closure(modules, module), "\(module)")
        }
    }

    @Test("Every arrow connects the borders of its two boxes")
    func borders() throws {
        var boxes: [String: Box] = [:]
        for box in picture.matches(
            of: /data-part="([^"]+)" x="(\d+)" y="(\d+)" width="(\d+)" height="(\d+)"/)
        {
            let numbers = try [box.2, box.3, box.4, box.5].map { try #require(Int($0)) }
            boxes[String(box.1)] = Box(x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3])
        }
        let arrows = picture.matches(
            of: /data-from="([^"]+)" data-to="([^"]+)" d="M(\d+) (\d+) [^"]* (\d+) (\d+)"/)
        #expect(arrows.count > 20)
        for arrow in arrows {
            let numbers = try [arrow.3, arrow.4, arrow.5, arrow.6].map { try #require(Int($0)) }
            let (from, to) = (boxes[String(arrow.1)], boxes[String(arrow.2)])
            #expect(from?.hasAtBorder(numbers[0], numbers[1]) == true, "\(arrow.1) to \(arrow.2)")
            #expect(to?.hasAtBorder(numbers[2], numbers[3]) == true, "\(arrow.1) to \(arrow.2)")
        }
    }
}
