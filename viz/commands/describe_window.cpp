// The session as --describe tells it: what the panels show, and the view, as JSON.
#include "viz/commands/describe_window.h"

#include <nlohmann/json.hpp>

#include "viz/commands/overlay_sheets.h"
#include "viz/layout/layout_json.h"
#include "viz/matrix/diff_json.h"
#include "viz/session/build_scene.h"
#include "viz/session/lesson_panel.h"
#include "viz/session/timeline_session.h"
#include "viz/session/tour.h"
#include "viz/timeline/timeline_words.h"

namespace tilescope {
namespace {

Json lines_json(const Lines& lines) {
  Json out = Json::array();
  for (const auto& [name, value] : lines) out.push_back({{"name", name}, {"value", value}});
  return out;
}

Json outline_json(const Session& session, const Backend& backend) {
  Json out = Json::array();
  for (const OutlineSection& section : outline(session, backend)) {
    Json items = Json::array();
    for (const OutlineItem& item : section.items) {
      Json each = {{"label", item.label}, {"detail", item.detail}, {"command", item.command}};
      if (item.current) each["current"] = true;
      if (item.open) each["open"] = *item.open;
      items.push_back(std::move(each));
    }
    out.push_back({{"title", section.title}, {"items", std::move(items)}});
  }
  return out;
}

Json bits_json(const BitPicture& picture) {
  std::string before, after, moved;
  for (const BitPicture::Bit& bit : picture.bits) {
    before += bit.before ? '1' : '0';
    after += bit.after ? '1' : '0';
    moved += bit.before != bit.after ? '^' : bit.read ? 'r' : bit.written ? 'w' : '.';
  }
  return {{picture.title_before, before}, {picture.title_after, after}, {"moved", moved}};
}

Json assistance_json(const Assistance& help) {
  Json all = Json::array();
  for (const Completion& each : help.completions.all) {
    all.push_back({{"text", each.text}, {"kind", name_of(each.kind)}, {"detail", each.detail}});
  }
  Json out = {{"completions", std::move(all)}};
  if (!help.signature) return out;
  const Signature& call = *help.signature;
  out["signature"] = std::string(call.name) + std::string(call.parameters);
  out["parameter"] = call.parameters.substr(call.begin, call.end - call.begin);
  return out;
}

Json inspector_json(const Session& session) {
  Json out = Json::array();
  for (const InspectorSection& section : inspector(session)) {
    Json each = {{"title", section.title}, {"lines", lines_json(section.lines)}};
    if (section.lines.empty()) each["text"] = section.when_empty;
    for (const InspectorLink& link : section.links) {
      each["links"].push_back(
          {{"label", link.label}, {"value", link.value}, {"command", link.command}});
    }
    if (section.bits) each["bits"] = bits_json(*section.bits);
    out.push_back(std::move(each));
  }
  return out;
}

Json steps_json(const Strip& strip) {
  Json out = Json::array();
  for (const StripStep& step : strip.steps) {
    out.push_back({{"title", step.title}, {"value", step.value}});
    if (!step.command.empty()) out.back()["command"] = step.command;
    if (step.current) out.back()["current"] = true;
  }
  return out;
}

// The strip's buttons; of a run in progress also how far it is, and its end.
Json actions_json(const Strip& strip) {
  Json out = Json::array();
  for (const Tab& action : strip.actions) {
    out.push_back({{"label", action.label}, {"command", action.command}});
  }
  if (strip.share) {
    out.push_back({{"label", "Stop"}, {"command", "cancel"}, {"progress", strip.progress}});
  }
  return out;
}

Json view_json(const Session& session, const Picture& picture) {
  if (const auto empty = emptiness(session)) {
    Json out = {{"empty", empty->sentence}, {"button", empty->button}, {"command", empty->command}};
    if (!picture.scene.items.empty()) out["page"] = describe(picture.scene);
    return out;
  }
  if (shows_build(session) && session.edit.edit.open()) return describe_build(session);
  const View& view = view_of(session.state.view);
  return view.json ? view.json(session, picture) : describe(picture.scene);
}

}  // namespace

Json describe(const Session& session, const Backend& backend, const Picture& picture) {
  Json out;
  out["schema"] = 1;
  out["field"] = session.field;
  out["meaning"] = meaning_of_field(session).text;
  if (session.problem) out["problem"] = session.problem->sentence;
  if (session.editor.active) out["assistance"] = assistance_json(assistance(session, backend));
  out["theme"] = session.state.dark ? "dark" : "light";
  out["view"] = name_of(session.state.view);
  out["outline"] = outline_json(session, backend);
  Json state = Json::array();
  for (const Choice& choice : view_choices(session)) {
    for (const Tab& option : choice.options) {
      if (option.current) state.push_back({{"name", choice.title}, {"value", option.label}});
    }
  }
  for (const SizeField& field : size_fields(session)) {
    state.push_back({{"name", field.name}, {"value", field.value}});
  }
  out["choices"] = std::move(state);
  if (offers_legend(session)) {
    const bool shown = session.legend_shown;
    out["legend"] = {{"shown", shown}, {"command", shown ? "legend hide" : "legend show"}};
  }
  out["picture"] = view_json(session, picture);
  if (const auto lesson = lesson_panel(session); lesson && session.state.lesson.shown) {
    out["lesson"] = describe(*lesson);
  }
  out["inspector"] = inspector_json(session);
  const Strip shown = strip(session, backend);
  out["strip"] = steps_json(shown);
  out["actions"] = actions_json(shown);
  out["status"] = session.message.text;
  if (!session.copied.empty()) out["copied"] = session.copied;
  if (session.tour) {
    const TourStep& step = tour_steps()[*session.tour];
    out["tour"] = {{"title", step.title}, {"text", step.text}, {"step", *session.tour + 1}};
  }
  if (session.overlay.open()) out["overlay"] = describe_overlay(session, backend);
  return out;
}

}  // namespace tilescope
